"""Import and export of Markdown folders."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.note_store import TEXT
from tests.fakes.embedders import HashingEmbedder

from chie.errors import StorageError, ValidationError
from chie.knowledge.markdown import note_file
from chie.knowledge.markdown.folder import all_notes, export_notes, import_files, markdown_files, remove_outdated
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def new_service(tmp_path: Path) -> Callable[[], KnowledgeService]:
    names = count()
    return lambda: KnowledgeService(SqliteStore(tmp_path / "stores" / f"{next(names)}.db", HashingEmbedder()))


def by_id(service: KnowledgeService) -> dict[str, Note]:
    return {note.id: note for note in all_notes(service)}


def test_export_and_import_into_an_empty_home_gives_the_same_notes(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    ours, theirs = new_service(), new_service()
    ours.save(
        "# 見出し\n\n本文---\n---\n続き", title='題: "引用" #x', tags=["yes", "null", "1e3", "日本"], source="a: b"
    )
    ours.save("line one\r\nline two\ttabbed", origin="person")
    ours.save("---\nlooks: like front matter\n---\nbut is content")
    for number in range(105):
        ours.save(f"note {number}")
    paths = list(export_notes(ours, tmp_path / "out"))
    report = import_files(theirs, markdown_files(tmp_path / "out"))
    assert (len(paths), report.saved, report.refused) == (108, 108, {})
    assert by_id(theirs) == by_id(ours)
    assert import_files(theirs, markdown_files(tmp_path / "out")).unchanged == 108


LINE = TEXT.map(lambda text: " ".join(text.split())).filter(bool)


@given(content=TEXT, title=LINE, tags=st.lists(LINE, max_size=3), source=st.none() | LINE)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_note_survives_its_file(
    tmp_path: Path, content: str, title: str, tags: list[str], source: str | None
) -> None:
    moment = datetime(2026, 4, 1, 12, 30, 15, 123456, tzinfo=UTC)
    note = Note(id="k-1", title=title, content=content, tags=tags, source=source, created_at=moment, updated_at=moment)
    path = tmp_path / note_file.file_name(note)
    path.write_text(note_file.write(note), encoding="utf-8", newline="")
    assert note_file.read(path) == note


OBSIDIAN = """---
tags: [docker, 本番環境]
aliases: [コンテナ]
created: 2024-05-01
updated: 2024-06-02T10:00:00+09:00
status: draft
---

# コンテナのログを見る

`docker logs` を使う。[[別のメモ]] も参照。
"""


@pytest.mark.req("ME-9")
def test_what_recall_needs_survives_an_export(service: KnowledgeService, tmp_path: Path) -> None:
    questions = ["なぜ 413: になる?", "- Why 413?"]
    saved = service.save("raise the limit", questions=questions, errors=["413 too large"], proposal=True)
    note = service.confirm(saved.id)
    file = tmp_path / "note.md"
    file.write_text(note_file.write(note), encoding="utf-8")
    assert note_file.read(file) == note


def test_an_obsidian_vault_comes_in_with_titles_tags_and_dates(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "サーバー").mkdir(parents=True)
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "readme.md").write_text("settings")
    (vault / "サーバー" / "ログ.md").write_text(OBSIDIAN, encoding="utf-8")
    (vault / "plain name.md").write_text("no heading, no front matter", encoding="utf-8")
    (vault / "words.md").write_text("---\r\ntags: one, two three\r\n---\r\nwindows line ends", encoding="utf-8")
    (vault / "picture.png").write_bytes(b"\x89PNG")
    service = new_service()
    assert import_files(service, markdown_files(vault)).saved == 3
    notes = {note.title: note for note in all_notes(service)}
    log = notes["コンテナのログを見る"]
    assert (log.tags, log.status, log.origin) == (["docker", "本番環境"], "draft", "import")
    assert log.created_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert log.updated_at == datetime(2024, 6, 2, 1, tzinfo=UTC)
    assert log.source == "サーバー/ログ.md"
    assert log.content.endswith("`docker logs` を使う。[[別のメモ]] も参照。")
    assert notes["plain name"].content == "no heading, no front matter"
    assert notes["words"].tags == ["one", "two", "three"]


def test_importing_again_updates_changed_notes(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name in ("a", "b"):
        (vault / f"{name}.md").write_text(f"text of {name}")
    service = new_service()
    import_files(service, markdown_files(vault)[:1])  # interrupted after the first
    report = import_files(service, markdown_files(vault))
    assert (report.saved, report.unchanged) == (1, 1)
    (vault / "a.md").write_text("new text of a")
    report = import_files(service, markdown_files(vault))
    assert (report.saved, report.unchanged) == (1, 1)
    assert sorted(note.content for note in all_notes(service)) == ["new text of a", "text of b"]


def test_importing_again_keeps_notes_changed_after_their_files(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    paths = [tmp_path / "手順.md", tmp_path / "untouched.md"]
    for path in paths:
        path.write_text("step one", encoding="utf-8")
    service = new_service()
    import_files(service, paths)
    [edited] = [note for note in all_notes(service) if note.title == "手順"]
    service.update(edited.id, content="step one, 二つ目")
    report = import_files(service, paths)
    assert (report.saved, report.unchanged, report.newer, report.refused) == (0, 1, paths[:1], {})
    assert service.get(edited.id).content == "step one, 二つ目"
    paths[0].write_text("a better step", encoding="utf-8")
    later = service.get(edited.id).updated_at.timestamp() + 60
    os.utime(paths[0], (later, later))
    assert import_files(service, paths).saved == 1
    assert service.get(edited.id).content == "a better step"


def test_edit_survives_a_file_with_a_date_in_the_future(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    path = tmp_path / "手順.md"
    path.write_text("step one", encoding="utf-8")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    service = new_service()
    import_files(service, [path])
    [note] = all_notes(service)
    service.update(note.id, content="step one, 二つ目")
    assert import_files(service, [path]).newer == [path]
    assert service.get(note.id).content == "step one, 二つ目"


def test_edit_survives_a_clock_that_was_set_back(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    service = new_service()
    saved = service.save("first")
    paths = list(export_notes(service, tmp_path))
    slow = KnowledgeService(service.store, clock=lambda: MOMENT)  # before the export
    slow.update(saved.id, content="二番目")
    slow.update(saved.id, content="三番目")
    assert import_files(slow, paths).newer == paths
    assert slow.get(saved.id).content == "三番目"


def test_note_of_the_last_possible_date_can_be_changed(new_service: Callable[[], KnowledgeService]) -> None:
    service = new_service()
    last = datetime.max.replace(tzinfo=UTC)
    service.import_note(Note(id="k-1", title="t", content="本文", created_at=last, updated_at=last))
    assert service.update("k-1", content="new").updated_at == last


def test_older_export_replaces_a_note_only_with_overwrite(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    service = new_service()
    saved = service.save("first")
    paths = list(export_notes(service, tmp_path))
    service.update(saved.id, content="二番目")
    assert import_files(service, paths).newer == paths
    assert import_files(service, paths, overwrite=True).saved == 1
    assert service.get(saved.id).content == "first"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xff\xfe\x00bad?", "knowledge.file_encoding_unknown"),
        (b"---\ntitle: [unclosed\n---\nx", "knowledge.front_matter_invalid"),
        (b"---\na: " + b"[" * 3000 + b"\n---\nx", "knowledge.front_matter_invalid"),
        (b"", "knowledge.content_required"),
        (b"---\ntitle: only\n---\n", "knowledge.content_required"),
        (b"nul \x00 byte", "knowledge.content_not_plain_text"),
        (b"x" * 300_000, "knowledge.content_too_long"),
    ],
)
def test_a_file_that_cannot_become_a_note_is_named_and_stops_nothing(
    new_service: Callable[[], KnowledgeService], tmp_path: Path, content: bytes, code: str
) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "bad.md").write_bytes(content)
    (tmp_path / "vault" / "good.md").write_text("good")
    report = import_files(new_service(), markdown_files(tmp_path / "vault"))
    assert report.saved == 1
    [(path, message)] = report.refused.items()
    assert path.name == "bad.md"
    assert message.code == code


def parsed(text: str) -> Note:
    return note_file.parse(text, name="file", source="file.md", changed=MOMENT)


@pytest.mark.parametrize(
    "text",
    [
        "---\nこの段落は大事です。\n---\n残り",
        "---\n- one\n- two\n---\nrest",
        "---\n# A heading\n---\nrest",
        "---\n~\n---\nrest",
    ],
)
def test_a_text_that_begins_with_a_rule_loses_nothing(text: str) -> None:
    assert parsed(text).content == text
    assert parsed("\ufeff" + text).content == text


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("```sh\n# install first\n```\n# 手順\n", "手順"),
        ("```sh\r\n# install first\r\n```\r\n# Steps", "Steps"),
        ("~~~~\n# a\n~~~\n# b\n```\n# c\n~~~~~\n# Steps", "Steps"),
        ("```python\n# a\n``` x\n# b\n```\n", "file"),
        ("```\n# never closed", "file"),
        ("```one line``` of code\n# Steps", "Steps"),
        ("text\n\n# 手順 #", "手順"),
    ],
)
def test_comment_in_code_is_not_a_title(body: str, title: str) -> None:
    assert parsed(body).title == title


def test_folder_import_accepts_the_suffixes_of_uploads(tmp_path: Path) -> None:
    for name in ("a.md", "b.MD", "c.markdown", "d.txt", "e.png", "md"):
        (tmp_path / name).write_text("本文", encoding="utf-8")
    (tmp_path / "folder.md").mkdir()
    assert [path.name for path in markdown_files(tmp_path)] == ["a.md", "b.MD", "c.markdown", "d.txt"]


@pytest.mark.parametrize(
    ("heading", "title"),
    [("# 見出し ## ", "見出し"), ("#\tC# と F#", "C# と F"), ("# ###", "#"), ("## Not this\n# This", "This")],
)
def test_a_heading_gives_the_title_without_the_marks_that_close_it(heading: str, title: str) -> None:
    assert parsed(heading).title == title


@pytest.mark.parametrize("blank", [" ", "#", "\t"])
def test_a_heading_as_long_as_the_file_is_read_at_once(blank: str) -> None:
    """Backtracking over two million spaces would take hours and block the process."""
    line = "a" + blank * 2_000_000 + "b"
    assert parsed(f"# {line}").title == line


def test_long_front_matter_is_rejected() -> None:
    most = "x: " + "a" * (64 * 1024 - len("x: \n")) + "\n"
    assert parsed(f"---\n{most}---\nbody").content == "body"
    with pytest.raises(ValidationError, match=r"front matter is too long: at most 64 kB"):
        parsed("---\nx:\n" + "- a\n" * 400_000 + "---\nbody")


def test_front_matter_may_be_empty() -> None:
    assert parsed("---\n\n---\nbody").content == "body"
    assert parsed("---\n---\nbody").content == "body"


def test_front_matter_scalars_stay_text() -> None:
    note = parsed("---\ntitle: Yes\nstatus: 0x1F\ntags: [no, on, 3.10, 010, 1:30, 2026-01-02]\n---\nx")
    assert (note.title, note.status) == ("Yes", "0x1F")
    assert note.tags == ["no", "on", "3.10", "010", "1:30", "2026-01-02"]
    assert parsed("---\ntags: 3.10\n---\nx").tags == ["3.10"]


@pytest.mark.parametrize("nothing", ["", " ~", " null", " NULL"])
def test_a_field_without_a_value_is_not_there(nothing: str) -> None:
    note = parsed(f"---\ntitle:{nothing}\ntags:{nothing}\nsource:{nothing}\ncreated:{nothing}\n---\n# Heading")
    assert (note.title, note.tags, note.source, note.created_at) == ("Heading", [], "file.md", MOMENT)
    assert parsed("---\ntitle: 'null'\ntags: ['~', ~, nullable]\n---\nx").tags == ["~", "nullable"]


@pytest.mark.parametrize(
    ("value", "private"),
    [("true", True), ("True", True), ("yes", True), ("on", True), ("false", False), ("no", False), ("[true]", False)],
)
def test_private_accepts_yaml_booleans(value: str, private: bool) -> None:
    assert parsed(f"---\nprivate: {value}\n---\nx").private is private


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-01-02", datetime(2026, 1, 2, tzinfo=UTC)),
        ("2026-1-2", datetime(2026, 1, 2, tzinfo=UTC)),
        ("'2026-01-02'", datetime(2026, 1, 2, tzinfo=UTC)),
        ("2026-01-02 03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02 3:04:05 +9", datetime(2026, 1, 1, 18, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.5Z", datetime(2026, 1, 2, 3, 4, 5, 500_000, tzinfo=UTC)),
        ("2026-01-02T03:04+0900", datetime(2026, 1, 1, 18, 4, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+09:00", None),
        ("9999-12-31T23:59:59-09:00", None),
        ("2026-02-30", None),
        ("2026-01-02T03:04:05+99:00", None),
        ("昨日", None),
    ],
)
def test_dates_are_read_as_iso_and_yaml_write_them(value: str, moment: datetime | None) -> None:
    note = parsed(f"---\ndate: {value}\n---\nx")
    assert note.created_at == (moment or MOMENT)
    assert note.created_at.tzinfo is UTC


def test_an_id_counts_only_where_we_wrote_it(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    note = Note(id="k-1", title="t", content="c", created_at=MOMENT, updated_at=MOMENT)
    ours = note_file.write(note)
    assert parsed(ours) == note
    for field in ("title", "user_id", "origin", "created_at", "updated_at"):
        lines = [line for line in ours.splitlines() if not line.startswith(f"{field}:")]
        assert parsed("\n".join(lines)).id == parsed("x").id, field
    for folder, text in (("a", "最初のメモ"), ("b", "another note")):
        (tmp_path / "docs" / folder).mkdir(parents=True)
        (tmp_path / "docs" / folder / "index.md").write_text(f"---\nid: overview\n---\n{text}", encoding="utf-8")
    service = new_service()
    for _ in range(2):
        import_files(service, markdown_files(tmp_path / "docs"))
        assert {note.content for note in all_notes(service)} == {"最初のメモ", "another note"}


def test_two_files_of_one_import_are_never_one_note(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    note = Note(id="k-1", title="t", content="最初", created_at=MOMENT, updated_at=MOMENT)
    for name, content in (("a", " "), ("b", "最初"), ("c", "other")):
        text = note_file.write(replace(note, id=" k-1" if name == "c" else "k-1", content=content))
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    service = new_service()
    report = import_files(service, markdown_files(tmp_path))
    assert (report.saved, service.get("k-1").content) == (1, "最初")
    assert report.refused == {
        tmp_path / "a.md": Message("knowledge.content_required"),
        tmp_path / "c.md": Message("knowledge.import_duplicate", other=str(tmp_path / "b.md")),
    }
    assert import_files(service, [tmp_path / "b.md"]).unchanged == 1


def test_an_export_stays_in_its_folder_whatever_the_ids_are(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    ours, theirs = new_service(), new_service()
    (tmp_path / "outside").mkdir()
    ids = [f"{tmp_path}/outside/evil", "../outside/evil", "..", "a/b", "設計メモ", "x" * 101, "𠮷" * 300]
    titles = dict.fromkeys(ids, "!") | {"y" * 100: "𠮷" * 300, "ADR_001-x": "a/../b"}
    for note_id, title in titles.items():
        ours.store.save(Note(id=note_id, title=title, content="本文", created_at=MOMENT, updated_at=MOMENT))
    paths = list(export_notes(ours, tmp_path / "out"))
    assert {path.parent for path in paths} == {tmp_path / "out"}
    assert sorted(paths) == sorted((tmp_path / "out").iterdir())
    assert list((tmp_path / "outside").iterdir()) == []
    assert "a-..-b-ADR_001-x.md" in {path.name for path in paths}
    import_files(theirs, paths)
    assert by_id(theirs) == {
        note_id: note for note_id, note in by_id(ours).items() if "/" not in note_id and note_id != ".."
    }


def test_exporting_again_leaves_no_older_version_of_a_note(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    service, out = new_service(), tmp_path / "out"
    ids = [service.save("本文", title=f"old {number}").id for number in range(4)]
    first = dict(zip(ids, sorted(export_notes(service, out)), strict=True))
    (out / "own.md").write_text("id: of my own")
    (out / f"own-{ids[0]}.md").write_text(f"---\nid: {ids[0]}\n---\nmine")
    edited, touched = first[ids[1]], first[ids[2]]
    edited.write_text(edited.read_text("utf-8") + "もう一行", encoding="utf-8")
    before = touched.stat().st_mtime
    touched.write_text(touched.read_text("utf-8").replace("本文", "別文"), encoding="utf-8")
    os.utime(touched, (before + 60, before + 60))
    for note_id in ids[:3]:
        service.update(note_id, title="A new title")
    service.delete(ids[3])
    written = set(export_notes(service, out))
    assert remove_outdated(service, out, written) == sorted([edited, touched, first[ids[3]]])
    own = {out / "own.md", out / f"own-{ids[0]}.md"}
    assert set(out.iterdir()) == {*written, *own, edited, touched, first[ids[3]]}
    assert remove_outdated(service, out, written) == sorted([edited, touched, first[ids[3]]])


def test_an_exported_file_is_as_old_as_its_note(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    service = new_service()
    for year in (1, 2001, 9999):
        moment = datetime(year, 12, 31, tzinfo=UTC)
        service.import_note(Note(id=f"k-{year}", title="t", content="本文", created_at=moment, updated_at=moment))
    assert len(list(export_notes(service, tmp_path))) == 3
    assert (tmp_path / "t-k-2001.md").stat().st_mtime == datetime(2001, 12, 31, tzinfo=UTC).timestamp()


def test_a_disk_that_takes_two_spellings_for_one_name_loses_nothing(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    service = new_service()
    saved = service.save("本文", title="Deploy")
    [first] = export_notes(service, tmp_path)
    service.update(saved.id, title="deploy")
    [second] = export_notes(service, tmp_path)
    first.unlink()
    os.link(second, first)  # as if both names were the same file
    assert remove_outdated(service, tmp_path, {second}) == []
    assert second.exists()


def test_note_deleted_during_export_is_left_out(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    service = new_service()
    ids = [service.save(f"note {number}").id for number in range(3)]
    export = export_notes(service, tmp_path / "out")
    next(export)
    service.delete(ids[1])
    assert len(list(export)) == 1


def test_file_deleted_during_import_does_not_stop_it(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("a")
    report = import_files(new_service(), [tmp_path / "gone.md", tmp_path / "a.md"])
    assert (report.saved, list(report.refused)) == (1, [tmp_path / "gone.md"])
    assert report.refused[tmp_path / "gone.md"].code == "knowledge.file_unreadable"


def test_missing_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="is not a folder"):
        markdown_files(tmp_path / "nowhere")


def test_failed_export_is_reported(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    service = new_service()
    service.save("x")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Choose another folder"):
        list(export_notes(service, tmp_path / "file" / "out"))


def test_a_file_from_the_far_future_is_imported(new_service: Callable[[], KnowledgeService]) -> None:
    wide = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - most other file systems end in 2446
    with TemporaryDirectory(dir=wide) as folder:
        path = Path(folder) / "a.md"
        path.write_text("未来のメモ", encoding="utf-8")
        os.utime(path, (2**40, 2**40))
        service = new_service()
        assert import_files(service, [path]).saved == 1
        assert import_files(service, [path]).unchanged == 1
