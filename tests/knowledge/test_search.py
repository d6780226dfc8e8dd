"""Searching with the model that we ship: what developers in two languages really type."""

import pytest

from chie.knowledge.service import KnowledgeService

NOTES = {
    "pool": "本番のPostgreSQLで接続数が上限に達したときは、max_connectionsを上げずにPgBouncerを前段に置く。",
    "kyoto": "京都オフィスからVPNに入れないときは、ルーターの1194番ポートを開ける。",
    "incident": "障害発生時はまずステータスページを更新し、それから原因を調べる。",
    "cert": "TLS証明書の期限が近づくとSlackに警告が出る 🔐",
    "kana": "ﾃﾞｰﾀ移行の後は件数とﾊｯｼｭを比べる",
    "nginx": "nginx answers 413 Request Entity Too Large until client_max_body_size is raised.",
    "refused": "psycopg.OperationalError: connection to server at 127.0.0.1, port 5432 failed: Connection refused. "
    "Start the server, or look whether it listens on a socket only.",
    "hook": "useEffect ran twice in development because of StrictMode; it is not a bug.",
    "cpp": "The C++ client must call curl_global_init once per process.",
    "deploy": "We never deploy on Friday afternoon.",
}


@pytest.fixture
def found(service: KnowledgeService) -> dict[str, str]:
    """Which note an id belongs to."""
    return {service.save(text).id: name for name, text in NOTES.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("京都", "kyoto"),
        ("障害", "incident"),
        ("期限", "cert"),
        ("データ", "kana"),
        ("ハッシュ", "kana"),
        ("ﾊｯｼｭ", "kana"),
        ("ＶＰＮ", "kyoto"),
        ("vpn", "kyoto"),
        ("🔐", "cert"),
        ("max_connections", "pool"),
        ("MAX_CONNECTIONS", "pool"),
        ("pgbouncer", "pool"),
        ("client_max_body_size", "nginx"),
        ("413", "nginx"),
        ("useEffect", "hook"),
        ("C++", "cpp"),
        ("curl_global_init", "cpp"),
        ("connection to server at 127.0.0.1, port 5432 failed: Connection refused", "refused"),
        ("psycopg.OperationalError", "refused"),
        ("データベースの接続が足りない", "pool"),
        ("upload is rejected because the body is too large", "nginx"),
        ("サーバーに大きなファイルを送ると拒否される", "nginx"),
        ("what do we do first when the service is down", "incident"),
        ("金曜日にリリースしてもよいか", "deploy"),
        ("certificate is about to expire", "cert"),
    ],
)
def test_the_note_that_answers_comes_first(
    service: KnowledgeService, found: dict[str, str], query: str, expected: str
) -> None:
    hits = service.search(query).hits
    assert hits, "nothing was found"
    assert found[hits[0].id] == expected


@pytest.mark.req("SE-3")
@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("スキャナーの再起動", "すきゃなー"),
        ("すきゃなーの再起動", "スキャナー"),
        ("スキャナの再起動", "スキャナー"),
        ("スキャナーの再起動", "スキャナ"),
        ("ＳＣＡＮＮＥＲの再起動", "scanner"),
        ("ｽｷｬﾅｰの再起動", "スキャナー"),
        ("ウィンドウを閉じる", "ウインドウ"),
        ("障害の問い合わせ先", "問合せ"),
        ("障害の問合せ先", "問い合わせ"),
        ("作業の引き継ぎ", "引継"),
        ("the daemon retries and caches", "retrying cached"),
        ("stopping the daemon", "stopped"),
        ("the certificate of the daemon", "certifcate"),
    ],
)
def test_another_spelling_of_a_word_finds_the_note(
    service: KnowledgeService, found: dict[str, str], written: str, asked: str
) -> None:
    saved = service.save(written)
    assert service.search(asked).hits[0].id == saved.id
    assert saved.id not in found


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("query", ["カレーの作り方", "guitar chords for beginners", "zzzz qqqq"])
def test_unrelated_query_has_no_hits(service: KnowledgeService, query: str) -> None:
    assert service.search(query).hits == []


@pytest.mark.parametrize(
    "syntax", ['"', "'", "*", "AND", "NOT", "NEAR(", "a OR", "title:x", "^", "-", "\\", "%", "(((", "--", ";"]
)
def test_query_syntax_of_the_store_is_escaped(service: KnowledgeService, found: dict[str, str], syntax: str) -> None:
    for query in (f"413 {syntax}", f"{syntax} 413", f"{syntax}413{syntax}"):
        assert [found[hit.id] for hit in service.search(query).hits][:1] == ["nginx"], query
    assert "nginx" not in [found[hit.id] for hit in service.search(syntax).hits]


def test_tags_are_words_too(service: KnowledgeService) -> None:
    tagged = service.save("restart the daemon after the change", tags=["systemd"])
    assert service.search("systemd").hits[0].id == tagged.id


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("本番のDBは毎晩2時にバックアップする。", "本番のDBは毎晩2時にバックアップを取る"),
        ("Never deploy on Friday afternoon.", "We never deploy on a Friday afternoon"),
        ("Raise worker_connections in nginx first.", "nginxではまずworker_connectionsを増やす。"),
    ],
)
def test_a_rewording_is_recognised_as_similar(service: KnowledgeService, first: str, again: str) -> None:
    known = service.save(first)
    service.save("会議室の予約は受付に頼む。")
    assert [similar.id for similar in service.save(again).similar] == [known.id]
