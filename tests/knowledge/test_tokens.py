import pytest

from chie.knowledge.search.tokens import fold, identifiers, query_tokens, tokens

pytestmark = pytest.mark.req("SE-3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("障害", ["障害"]),
        ("障害対応", ["障害", "害対", "対応"]),
        ("犬", ["犬"]),
        ("ﾃﾞｰﾀ でーた", ["デタ", "デタ"]),
        ("サーバ サーバー", ["サバ", "サバ"]),
        ("ー", ["ー"]),
        ("ウィンドウ ウインドウ", ["ウイ", "イン", "ンド", "ドウ", "ウイ", "イン", "ンド", "ドウ"]),
        ("問合せ", ["問合", "合セ"]),
        ("問い合わせ", ["問イ", "イ合", "合ワ", "ワセ", "問合"]),
        ("引き継ぎ", ["引キ", "キ継", "継ギ", "引継"]),
        ("設定を変更", ["設定", "定ヲ", "ヲ変", "変更"]),
        ("cache caches cached caching", ["cach"] * 4),
        ("stop stops stopped stopping", ["stop"] * 4),
        ("retry retries retried retrying", ["retry"] * 4),
        ("ＶＰＮ接続", ["vpn", "接続"]),
        ("max_connections", ["max_connections", "max", "connection"]),
        ("useEffect", ["useeffect", "use", "effect"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("10.0.0.1:5432", ["10.0.0.1:5432", "10", "0", "0", "1", "5432"]),
        ("ERR_42", ["err_42", "err", "42"]),
        ("policies cities", ["policy", "city"]),
        ("address class", ["address", "class"]),
        ("深夜 🔐!", ["深夜", "🔐"]),
        ("名前、住所。", ["名前", "住所"]),
        ("naïve café", ["naïve", "café"]),
        ("", []),
        ("、。!?", []),
    ],
)
def test_words_for_the_index(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_query_leaves_grammar_out_unless_it_is_all_there_is() -> None:
    assert query_tokens("どうすれば接続できますか") == ["バ接", "接続", "続デ"]
    assert query_tokens("how do I restart the server") == ["restart", "server"]
    assert query_tokens("これはなに") == ["コレ", "レハ", "ハナ", "ナニ"]
    assert query_tokens("さーばのメモリ") == ["サバ", "バノ", "ノメ", "メモ", "モリ"]
    assert query_tokens("to be or not") == ["to", "be", "or", "not"]


def test_a_query_names_each_word_once_and_not_too_many() -> None:
    assert query_tokens("redis Redis ＲＥＤＩＳ") == ["redi"]
    assert len(query_tokens(" ".join(f"word{n}" for n in range(500)))) == 64


def test_identifiers() -> None:
    assert identifiers("why does max_connections fail with ERR_42 in useEffect on 10.0.0.1?") == {
        "max_connections",
        "err_42",
        "useeffect",
        "10.0.0.1",
    }
    assert identifiers("The DNS of Kyoto is slow in 2026") == set()


def test_folding_makes_one_spelling() -> None:
    assert fold("  ＡＢＣ\n ｶﾅ  Straße ") == "abc カナ strasse"
