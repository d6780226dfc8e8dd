"""Markdown in and out."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.note_store import TEXT
from tests.fakes.embedders import HashingEmbedder

from chie.errors import StorageError, ValidationError
from chie.knowledge import markdown
from chie.knowledge.exchange import all_headings, export_notes, import_files, markdown_files
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore


@pytest.fixture
def new_service(tmp_path: Path) -> Callable[[], KnowledgeService]:
    names = count()
    return lambda: KnowledgeService(SqliteStore(tmp_path / "stores" / f"{next(names)}.db", HashingEmbedder()))


def all_notes(service: KnowledgeService) -> dict[str, Note]:
    return {heading.id: service.get(heading.id) for heading in all_headings(service)}


def test_export_and_import_into_an_empty_home_gives_the_same_notes(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
    ours, theirs = new_service(), new_service()
    ours.save(
        "# 見出し\n\n本文---\n---\n続き", title='題: "引用" #x', tags=["yes", "null", "1e3", "日本"], source="a: b"
    )
    ours.save("line one\r\nline two\ttabbed", author_kind="person")
    ours.save("---\nlooks: like front matter\n---\nbut is content")
    for number in range(105):
        ours.save(f"note {number}")
    paths = list(export_notes(ours, tmp_path / "out"))
    report = import_files(theirs, markdown_files(tmp_path / "out"))
    assert (len(paths), report.saved, report.refused) == (108, 108, {})
    assert all_notes(theirs) == all_notes(ours)
    assert import_files(theirs, markdown_files(tmp_path / "out")).unchanged == 108


LINE = TEXT.map(lambda text: " ".join(text.split())).filter(bool)


@given(content=TEXT, title=LINE, tags=st.lists(LINE, max_size=3), source=st.none() | LINE)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_note_survives_its_file(
    tmp_path: Path, content: str, title: str, tags: list[str], source: str | None
) -> None:
    moment = datetime(2026, 4, 1, 12, 30, 15, 123456, tzinfo=UTC)
    note = Note(id="k-1", title=title, content=content, tags=tags, source=source, created_at=moment, updated_at=moment)
    path = tmp_path / markdown.file_name(note)
    path.write_text(markdown.write(note), encoding="utf-8", newline="")
    assert markdown.read(path) == note


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
    notes = {note.title: note for note in all_notes(service).values()}
    log = notes["コンテナのログを見る"]
    assert (log.tags, log.status, log.author_kind) == (["docker", "本番環境"], "draft", "person")
    assert log.created_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert log.updated_at == datetime(2024, 6, 2, 1, tzinfo=UTC)
    assert log.source == (vault / "サーバー" / "ログ.md").resolve().as_uri()
    assert notes["plain name"].content == "no heading, no front matter"
    assert notes["words"].tags == ["one", "two", "three"]


def test_importing_again_updates_what_changed_and_adds_nothing(
    new_service: Callable[[], KnowledgeService], tmp_path: Path
) -> None:
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
    assert sorted(note.content for note in all_notes(service).values()) == ["new text of a", "text of b"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00bad", "not UTF-8"),
        (b"---\ntitle: [unclosed\n---\nx", "front matter is not YAML"),
        (b"", "content is required"),
        (b"---\ntitle: only\n---\n", "content is required"),
        (b"nul \x00 byte", "control character"),
        (b"x" * 300_000, "at most 200,000"),
    ],
)
def test_a_file_that_cannot_become_a_note_is_named_and_stops_nothing(
    new_service: Callable[[], KnowledgeService], tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "bad.md").write_bytes(content)
    (tmp_path / "vault" / "good.md").write_text("good")
    report = import_files(new_service(), markdown_files(tmp_path / "vault"))
    assert report.saved == 1
    [(path, message)] = report.refused.items()
    assert path.name == "bad.md"
    assert reason in message


def test_front_matter_that_is_no_mapping_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("---\njust words\n---\nbody")
    assert markdown.read(tmp_path / "x.md").content == "body"


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="is not a folder"):
        markdown_files(tmp_path / "nowhere")


def test_an_export_that_cannot_be_written_says_so(new_service: Callable[[], KnowledgeService], tmp_path: Path) -> None:
    service = new_service()
    service.save("x")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Name another folder"):
        list(export_notes(service, tmp_path / "file" / "out"))
