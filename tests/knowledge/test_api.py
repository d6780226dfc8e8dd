"""The HTTP API of notes, behind the app's authentication."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from chie.app import create_app
from chie.knowledge.markdown import uploads
from chie.knowledge.server import create_server
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message

ADDRESS = "http://127.0.0.1:8080"
API = "/api/knowledge"

JAPANESE: dict[str, Any] = {
    "content": "nginx の接続数が足りないときは worker_connections を増やす",
    "tags": ["nginx", "性能"],
}
ENGLISH: dict[str, Any] = {
    "content": "Redis evicts sessions when memory is short",
    "title": "Redis loses sessions",
    "tags": ["redis"],
}


@pytest.fixture
def page(real_store: SqliteStore) -> Iterator[TestClient]:
    with TestClient(create_app({"knowledge": create_server(store=real_store)}), base_url=ADDRESS) as client:
        yield client


def saved(page: TestClient, note: dict[str, Any]) -> str:
    response = page.post(API, json=note)
    assert response.status_code == 201, response.text
    note_id: str = response.json()["id"]
    return note_id


def outcome(report: dict[str, Any]) -> tuple[int, int, list[str], dict[str, str]]:
    return report["saved"], report["unchanged"], report["newer"], report["refused_code"]


def a_zip(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def sent(page: TestClient, *files: tuple[str, bytes | str], **fields: Any) -> dict[str, Any]:
    parts = [("files", (name, content if isinstance(content, bytes) else content.encode())) for name, content in files]
    response = page.post(f"{API}/import", files=parts, data=fields)
    assert response.status_code == 200, response.text
    report: dict[str, Any] = response.json()
    return report


def test_person_saves_and_reads_a_note(page: TestClient) -> None:
    note = page.get(f"{API}/{saved(page, JAPANESE)}").json()
    assert (note["content"], note["tags"], note["origin"]) == (JAPANESE["content"], ["nginx", "性能"], "person")
    assert note["title"] == JAPANESE["content"][:30].strip()


@pytest.mark.parametrize(
    ("question", "found", "marked"),
    [("接続数", JAPANESE, ["接続数"]), ("evicted sessions", ENGLISH, ["evicts", "sessions"])],
)
def test_a_search_shows_scores_and_why(
    page: TestClient, question: str, found: dict[str, Any], marked: list[str]
) -> None:
    for note in (JAPANESE, ENGLISH):
        saved(page, note)
    answer = page.get(f"{API}/search", params={"q": question}).json()
    best = answer["hits"][0]
    text = best["hit"]["content"]
    assert text == found["content"]
    assert 0 < best["hit"]["score"] <= 1
    assert set(marked) & {text[start:end] for start, end in best["highlights"]["content"]}
    assert answer["notice"] is None


def test_search_filters_by_tags(page: TestClient) -> None:
    saved(page, JAPANESE)
    wanted = saved(page, ENGLISH)
    hits = page.get(f"{API}/search", params={"q": "nginx redis", "tags": ["redis"]}).json()["hits"]
    assert [entry["hit"]["id"] for entry in hits] == [wanted]


def test_notes_are_browsed_by_tag_page_by_page(page: TestClient) -> None:
    ids = [saved(page, {"content": f"メモ {number}", "tags": ["山"]}) for number in range(3)]
    saved(page, ENGLISH)
    first = page.get(API, params={"tag": "山", "limit": 2}).json()
    second = page.get(API, params={"tag": "山", "limit": 2, "cursor": first["next_cursor"]}).json()
    assert [note["id"] for note in first["notes"] + second["notes"]] == ids[::-1]
    assert second["next_cursor"] is None
    tags = page.get(f"{API}/tags").json()
    assert tags == {"tags": [{"tag": "山", "count": 3}, {"tag": "redis", "count": 1}], "total": 4}


def test_update_keeps_omitted_fields(page: TestClient) -> None:
    note_id = saved(page, ENGLISH)
    assert page.patch(f"{API}/{note_id}", json={"tags": ["キャッシュ"]}).status_code == 200
    note = page.get(f"{API}/{note_id}").json()
    assert (note["title"], note["content"], note["tags"]) == (ENGLISH["title"], ENGLISH["content"], ["キャッシュ"])


def test_update_of_an_outdated_version_is_a_conflict(page: TestClient) -> None:
    note_id = saved(page, ENGLISH)
    seen = page.get(f"{API}/{note_id}").json()["updated_at"]
    assert page.patch(f"{API}/{note_id}", json={"title": "theirs", "updated_at": seen}).status_code == 200
    mine = page.patch(f"{API}/{note_id}", json={"title": "mine", "updated_at": seen})
    assert (mine.status_code, mine.json()["detail"]) == (409, str(Message("knowledge.note_changed")))
    assert page.get(f"{API}/{note_id}").json()["title"] == "theirs"


def test_deleted_note_can_be_restored(page: TestClient) -> None:
    note_id = saved(page, JAPANESE)
    before = page.get(f"{API}/{note_id}").json()
    gone = page.delete(f"{API}/{note_id}").json()
    assert gone == before
    assert page.get(f"{API}/{note_id}").status_code == 404
    assert page.put(f"{API}/{note_id}", json=gone).status_code == 200
    assert _unused(page.get(f"{API}/{note_id}").json()) == before
    assert page.get(f"{API}/search", params={"q": "接続数"}).json()["hits"][0]["hit"]["id"] == note_id
    assert page.put(f"{API}/{note_id}", json=gone).status_code == 409


def test_similar_notes_are_on_the_same_matter_and_never_the_note_itself(page: TestClient) -> None:
    note_id = saved(page, JAPANESE)
    near = saved(page, {"content": "Raise worker_connections when nginx runs out of connections"})
    saved(page, {"content": "カレーには玉ねぎをよく炒める"})
    similar = page.get(f"{API}/{note_id}/similar").json()["notes"]
    assert [note["id"] for note in similar] == [near]


def test_the_map_has_every_note(page: TestClient) -> None:
    ids = {saved(page, JAPANESE), saved(page, ENGLISH)}
    drawn = page.get(f"{API}/map").json()
    assert {point["id"] for point in drawn["points"]} == ids
    assert drawn["total"] == 2
    assert set(drawn["points"][0]) == {"id", "title", "tags", "x", "y"}


def test_files_and_zips_are_imported_and_importing_again_changes_nothing(page: TestClient) -> None:
    vault = a_zip(
        {
            "vault/手順.md": "---\ntags: [運用]\n---\n# 再起動の手順\n\n先に確認する",
            "vault/.trash/old.md": "gone",
            "__MACOSX/vault/._手順.md": "x",
            "vault/picture.png": b"\x89PNG",
        }
    )
    files = (("vault.zip", vault), ("english.md", "# A title\n\nThe text"))
    assert outcome(sent(page, *files)) == (2, 0, [], {})
    assert outcome(sent(page, *files)) == (0, 2, [], {})
    headings = page.get(API).json()["notes"]
    assert {(note["title"], note["source"]) for note in headings} == {
        ("再起動の手順", "vault/手順.md"),
        ("A title", "english.md"),
    }
    created = {note["title"]: note["created_at"] for note in headings}
    assert sent(page, ("english.md", "# A title\n\nAnother text"))["saved"] == 1
    assert created == {note["title"]: note["created_at"] for note in page.get(API).json()["notes"]}


def test_import_keeps_notes_changed_after_their_files(page: TestClient) -> None:
    file, day = ("手順.md", "# 手順\n\nstep one"), "2026-01-02T03:04:05Z"
    assert sent(page, file, modified=[day])["saved"] == 1
    [heading] = page.get(API).json()["notes"]
    assert (heading["created_at"], heading["updated_at"]) == (day, day)
    url = f"{API}/{heading['id']}"
    page.patch(url, json={"content": "step two, 佐藤"})
    assert outcome(sent(page, file, modified=[day])) == (0, 0, ["手順.md"], {})
    assert page.get(url).json()["content"] == "step two, 佐藤"
    assert sent(page, file, modified=[day], overwrite="true")["saved"] == 1
    assert page.get(url).json()["content"] == "# 手順\n\nstep one"
    page.patch(url, json={"content": "step two, 佐藤"})
    assert sent(page, file)["newer"] == ["手順.md"], "the file is as it was when it was imported"
    assert sent(page, ("手順.md", "# 手順\n\nstep three"))["saved"] == 1, "what has no date is taken as new"


def test_zip_entries_have_their_dates_but_none_newer_than_the_zip(page: TestClient) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, year in (("old.md", 2001), ("東京.md", 2026), ("none.md", 1980)):
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), f"from {year}")
    sent(page, ("vault.zip", buffer.getvalue()), modified=["2025-12-31T15:00:00+00:00"])
    notes = {note["title"]: note for note in page.get(API).json()["notes"]}
    assert notes["old"]["updated_at"] == "2001-01-01T00:00:00Z"
    assert notes["東京"]["updated_at"] == "2025-12-31T15:00:00Z"
    assert notes["none"]["updated_at"] > "2026"
    page.patch(f"{API}/{notes['old']['id']}", json={"content": "edited here"})
    assert sent(page, ("vault.zip", buffer.getvalue()))["newer"] == ["old.md"]


def test_future_dates_are_clamped_and_every_file_needs_a_date(page: TestClient) -> None:
    sent(page, ("a.md", "a"), modified=["2999-01-01T00:00:00"])
    assert page.get(API).json()["notes"][0]["updated_at"] < "2900"
    files = [("files", ("a.md", b"a")), ("files", ("b.md", b"b"))]
    answer = page.post(f"{API}/import", files=files, data={"modified": ["2026-01-01T00:00:00Z"]})
    assert (answer.status_code, answer.json()["detail"]) == (400, str(Message("knowledge.modified_count_mismatch")))


def test_a_zip_from_a_japanese_windows_keeps_its_names(page: TestClient) -> None:
    raw = a_zip({"sjis.md": "本文"}).replace(b"sjis.md", "手順.md".encode("cp932").ljust(7, b"x")[:7])
    assert sent(page, ("windows.zip", raw))["saved"] == 1
    assert page.get(API).json()["notes"][0]["source"] == "手順.md"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("picture.png", b"\x89PNG", "knowledge.file_type_unsupported"),
        ("broken.zip", b"PK\x03\x04 not a zip", "knowledge.zip_unreadable"),
        ("日本語.md", "日本語".encode("cp932"), "knowledge.file_encoding_unknown"),
        ("議事録.pdf", b"%PDF-1.7", "knowledge.document_unsupported"),
        ("empty.md", b"  \n", "knowledge.content_required"),
        ("huge.md", b"x" * (2 * 1024 * 1024 + 1), "knowledge.file_too_large"),
    ],
)
def test_a_file_that_cannot_become_a_note_is_named_and_stops_nothing(
    page: TestClient, name: str, content: bytes, code: str
) -> None:
    report = sent(page, (name, content), ("good.md", "good"))
    assert outcome(report) == (1, 0, [], {name: code})
    assert report["refused"][name]
    assert isinstance(report["refused_params"][name], dict)


def test_a_damaged_file_in_a_zip_is_named_and_stops_nothing(page: TestClient) -> None:
    code = "knowledge.zip_entry_unreadable"
    stored = a_zip({"a.md": "最初", "b.md": "XXBADXX", "c.md": "last"}).replace(b"XXBADXX", b"YYBADYY", 1)
    assert outcome(sent(page, ("v.zip", stored))) == (2, 0, [], {"b.md": code})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d.md", "hello world " * 500)
        archive.writestr("e.md", "good")
    deflated = bytearray(buffer.getvalue())
    deflated[40:50] = bytes(byte ^ 0xFF for byte in deflated[40:50])
    assert outcome(sent(page, ("v.zip", bytes(deflated)))) == (1, 0, [], {"d.md": code})
    locked = bytearray(a_zip({"f.md": "secret", "g.md": "open"}))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    assert outcome(sent(page, ("v.zip", bytes(locked)))) == (1, 0, [], {"f.md": code})


def test_an_import_unpacks_so_much_and_no_more(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.knowledge.markdown.uploads.MAX_IMPORT_BYTES", 2 * 1024 * 1024)
    files: dict[str, str | bytes] = {f"{number}.md": "あ" * 60_000 + f" {number}" for number in range(14)}
    report = sent(page, ("bomb.zip", a_zip(files)), ("after.md", "one more"))
    assert (report["saved"], list(report["refused"])) == (12, ["12.md", "13.md", "after.md"])
    assert set(report["refused_code"].values()) == {"knowledge.import_too_large"}
    assert report["refused_params"]["after.md"] == {"limit": 2}


def test_a_zip_with_too_many_files_saves_nothing(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.knowledge.markdown.uploads.MAX_FILES", 3)
    many = a_zip({f"メモ {number}.md": "text" for number in range(4)})
    files = [("first.md", b"first"), ("ok.zip", a_zip({"a.md": "a"})), ("many.zip", many), ("last.md", b"last")]
    response = page.post(f"{API}/import", files=[("files", file) for file in files])
    assert (response.status_code, response.json()["code"]) == (400, "knowledge.zip_too_many_files")
    assert page.get(API).json()["notes"] == []
    assert sent(page, *files[:2])["saved"] == 2


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_would_unpack_to_gigabytes_is_not_unpacked(page: TestClient, kind: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        archive.writestr("a.md", b"x" * 50_000_000)
    tracemalloc.start()
    try:
        assert list(sent(page, ("v.zip", buffer.getvalue()))["refused"]) == ["a.md"]
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_a_date_that_cannot_be_and_yaml_without_end_stop_no_import(page: TestClient) -> None:
    report = sent(
        page,
        ("a.md", "---\ndate: 0001-01-01T00:00:00+09:00\n---\n昔の話"),
        ("b.md", "---\na: " + "[" * 3000 + "\n---\nx"),
        ("c.md", "fine"),
    )
    assert (report["saved"], list(report["refused"])) == (2, ["b.md"])


def test_two_files_of_one_import_are_never_one_note(page: TestClient) -> None:
    one, two = a_zip({"index.md": "最初"}), a_zip({"index.md": "another"})
    report = sent(page, ("one.zip", one), ("two.zip", two))
    assert report["saved"] == 1
    assert report["refused_code"] == {"index.md": "knowledge.import_duplicate"}
    assert report["refused_params"] == {"index.md": {"other": "index.md"}}
    assert page.get(f"{API}/{page.get(API).json()['notes'][0]['id']}").json()["content"] == "最初"


def test_an_export_has_notes_of_any_date(page: TestClient) -> None:
    files = [(f"{year}.md", f"---\nupdated: {year}-12-31\n---\n{year} 年") for year in ("0001", "1999", "9999")]
    assert sent(page, *files)["saved"] == 3
    before = {note["id"]: note["updated_at"] for note in page.get(API).json()["notes"]}
    export = page.get(f"{API}/export").content
    with zipfile.ZipFile(io.BytesIO(export)) as archive:
        assert sorted(entry.date_time[0] for entry in archive.infolist()) == [1980, 1999, 2107]
    for note_id in before:
        page.delete(f"{API}/{note_id}")
    assert sent(page, ("notes.zip", export))["saved"] == 3
    assert {note["id"]: note["updated_at"] for note in page.get(API).json()["notes"]} == before


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"user_id": "\ud800"}, Message("knowledge.field_not_plain_text", field="user_id")),
        ({"id": "k-1\x01"}, Message("knowledge.field_not_plain_text", field="id")),
        ({"created_at": "0001-01-01T00:00:00+09:00"}, Message("knowledge.date_out_of_range", field="created_at")),
        ({"updated_at": "9999-12-31T23:59:59-09:00"}, Message("knowledge.date_out_of_range", field="updated_at")),
    ],
)
def test_invalid_note_is_not_restored(page: TestClient, fields: dict[str, str], reason: Message) -> None:
    moment = "2026-01-01T00:00:00Z"
    note = {"id": "k-1", "title": "t", "content": "c", "created_at": moment, "updated_at": moment, **fields}
    body, headers = json.dumps(note).encode(), {"content-type": "application/json"}
    answer = page.put(f"{API}/{quote(note['id'])}", content=body, headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (400, str(reason))


def test_zip_with_too_many_files_is_rejected(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 1)
    answer = page.post(f"{API}/import", files=[("files", ("many.zip", a_zip({"a.md": "一", "b.md": "two"})))])
    assert (answer.status_code, answer.json()["detail"]) == (400, str(Message("knowledge.zip_too_many_files", limit=1)))


def test_an_export_is_a_zip_that_gives_the_same_notes_back(page: TestClient) -> None:
    ids = {saved(page, JAPANESE), saved(page, ENGLISH)}
    before = {note_id: _unused(page.get(f"{API}/{note_id}").json()) for note_id in ids}
    export = page.get(f"{API}/export")
    assert export.headers["content-type"] == "application/zip"
    assert len(zipfile.ZipFile(io.BytesIO(export.content)).namelist()) == 2
    for note_id in ids:
        page.delete(f"{API}/{note_id}")
    assert sent(page, ("chie-notes.zip", export.content))["saved"] == 2
    assert {note_id: _unused(page.get(f"{API}/{note_id}").json()) for note_id in ids} == before


def _unused(note: dict[str, Any]) -> dict[str, Any]:
    """Reading it is counted as a use."""
    return {name: value for name, value in note.items() if name != "uses"}


def test_sample_notes_are_in_both_languages_and_added_once(page: TestClient) -> None:
    first = page.post(f"{API}/samples")
    assert first.status_code == 201
    ids = first.json()["ids"]
    page.patch(f"{API}/{ids[0]}", json={"title": "mine now"})
    assert page.post(f"{API}/samples").json()["ids"] == ids
    assert page.get(f"{API}/tags").json()["total"] == len(ids)
    assert page.get(f"{API}/{ids[0]}").json()["title"] == "mine now"
    for question in ("uploads are refused by nginx", "ディスクの容量が足りない"):
        assert page.get(f"{API}/search", params={"q": question}).json()["hits"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "detail"),
    [
        ("POST", "", {"content": "  "}, 400, "content is required. Write down"),
        ("POST", "", {}, 400, "content is required."),
        ("POST", "", {"content": "x", "colour": "red"}, 400, "unknown field in the body: "),
        ("GET", "/search?q=%20", None, 400, "query is required. "),
        ("GET", "/search", None, 400, "q is required."),
        ("GET", "/search?q=x&limit=0", None, 400, "limit must be at least 1."),
        ("GET", "?cursor=nonsense", None, 400, "`cursor` is not valid."),
        ("GET", "?tag=a%01b", None, 400, "`tag` contains control characters."),
        ("GET", "/a%01b", None, 404, "knowledge not found: "),
        ("GET", "/k-unknown", None, 404, "knowledge not found: "),
        ("DELETE", "/k-unknown", None, 404, "knowledge not found: "),
        ("PATCH", "/k-unknown", {"title": "x"}, 404, "knowledge not found: "),
        ("GET", "/k-unknown/similar", None, 404, "knowledge not found: "),
        ("POST", "/import", None, 400, "files is required."),
    ],
)
def test_failures_are_a_detail_with_the_right_status(
    page: TestClient, method: str, path: str, body: Any, status: int, detail: str
) -> None:
    answer = page.request(method, f"{API}{path}", json=body)
    assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (status, detail)


def test_restore_under_another_id_is_rejected(page: TestClient) -> None:
    gone = page.delete(f"{API}/{saved(page, ENGLISH)}").json()
    answer = page.put(f"{API}/k-other", json=gone)
    assert (answer.status_code, answer.json()["detail"]) == (400, str(Message("knowledge.id_mismatch")))


def test_an_import_may_be_larger_than_other_bodies_but_not_without_end(page: TestClient) -> None:
    five = b"x" * 5 * 1024 * 1024
    assert page.post(API, content=five, headers={"content-type": "application/json"}).status_code == 413
    assert page.post(f"{API}/import", files=[("files", ("huge.md", five))]).status_code == 200
    refused = page.post(f"{API}/import", headers={"content-length": str(65 * 1024 * 1024)}, content=b"")
    assert (refused.status_code, refused.json()["detail"]) == (
        413,
        "The body is too large: at most 64 MiB. Send less at a time.",
    )


def test_file_renamed_in_a_zip_keeps_its_note(page: TestClient) -> None:
    old: dict[str, str | bytes] = {"vault/手順.md": "step one", "vault/plan.md": "the plan, see [[手順]]"}
    assert sent(page, ("vault.zip", a_zip(old)))["saved"] == 2
    before = {note["source"]: note["id"] for note in page.get(API).json()["notes"]}
    new: dict[str, str | bytes] = {"vault/docs/手順書.md": "step one", "vault/plan.md": "the plan, see [[手順]]"}
    assert outcome(sent(page, ("vault.zip", a_zip(new))))[2:] == ([], {})
    after = {note["source"]: note["id"] for note in page.get(API).json()["notes"]}
    assert after == {"vault/docs/手順書.md": before["vault/手順.md"], "vault/plan.md": before["vault/plan.md"]}


def test_equal_file_uploaded_by_itself_is_a_note_of_its_own(page: TestClient) -> None:
    """The page sends the files of a folder in batches: a file that is not in this one may still exist."""
    assert sent(page, ("a.md", "同じ本文"))["saved"] == 1
    assert sent(page, ("b.md", "同じ本文"))["saved"] == 1
    assert {note["source"] for note in page.get(API).json()["notes"]} == {"a.md", "b.md"}
    assert sent(page, ("a.md", "同じ本文"), ("b.md", "同じ本文"))["unchanged"] == 2


def test_zip_names_documents_that_cannot_be_read_yet(page: TestClient) -> None:
    report = sent(page, ("vault.zip", a_zip({"a.md": "本文", "議事録.docx": b"PK", "image.png": b"PNG"})))
    assert outcome(report) == (1, 0, [], {"議事録.docx": "knowledge.document_unsupported"})


def test_shift_jis_is_read(page: TestClient) -> None:
    text = "サーバーの再起動の手順を書いておく。"
    assert sent(page, ("手順.txt", text.encode("cp932")))["saved"] == 1
    [note] = page.get(API).json()["notes"]
    assert page.get(f"{API}/{note['id']}").json()["content"] == text
