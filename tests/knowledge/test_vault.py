"""Importing a vault again: renamed files, other mount points, edits on the page, and files that are gone."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import new_schema, postgres_url, run_server

from chie.access.identity import User, acting_as
from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.markdown.folder import ImportReport, all_notes, export_notes, import_files, markdown_files
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sqlite.store import SqliteStore


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from run_server()


@pytest.fixture(params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeService]:
    store: SqliteStore | PostgresStore
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "notes.db", HashingEmbedder())
    else:
        store = PostgresStore(postgres_url(new_schema(request.getfixturevalue("server"))), HashingEmbedder())
    yield KnowledgeService(store)
    store.close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / "サーバー").mkdir(parents=True)
    (vault / "サーバー" / "ログ.md").write_text("`docker logs` を見る", encoding="utf-8")
    (vault / "index.md").write_text("see [[ログ]] #start", encoding="utf-8")
    (vault / "plan.md").write_text("the plan", encoding="utf-8")
    return vault


def run(service: KnowledgeService, vault: Path, *, overwrite: bool = False, dry_run: bool = False) -> ImportReport:
    return import_files(service, markdown_files(vault), folder=vault, overwrite=overwrite, dry_run=dry_run)


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.saved, report.unchanged, len(report.newer), len(report.refused)


def by_source(service: KnowledgeService) -> dict[str | None, Note]:
    return {note.source: note for note in all_notes(service)}


def test_source_is_relative_and_readable_and_links_lead_to_notes(service: KnowledgeService, vault: Path) -> None:
    assert counts(run(service, vault)) == (3, 0, 0, 0)
    notes = by_source(service)
    assert set(notes) == {"サーバー/ログ.md", "index.md", "plan.md"}
    assert notes["index.md"].content == f"see [ログ](note://{notes['サーバー/ログ.md'].id}) #start"
    assert notes["index.md"].tags == ["start"]
    assert counts(run(service, vault)) == (0, 3, 0, 0)


def test_renamed_file_keeps_its_note(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    before = by_source(service)
    (vault / "plan.md").rename(vault / "サーバー" / "計画.md")
    report = run(service, vault)
    assert (counts(report), report.left) == ((1, 2, 0, 0), {})
    after = by_source(service)
    assert (len(after), after["サーバー/計画.md"].id) == (3, before["plan.md"].id)
    assert after["サーバー/計画.md"].title == "計画"


def test_copied_file_is_a_note_of_its_own(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    shutil.copy(vault / "plan.md", vault / "copy.md")
    assert counts(run(service, vault)) == (1, 3, 0, 0)
    assert len(by_source(service)) == 4


@pytest.mark.parametrize("change", [lambda _: None, lambda vault: (vault / "plan.md").write_text("another plan")])
def test_another_mount_point_is_the_same_vault(
    service: KnowledgeService, vault: Path, change: Callable[[Path], object]
) -> None:
    run(service, vault)
    ids = {note.id for note in all_notes(service)}
    elsewhere = vault.parent / "mnt" / "renamed"
    shutil.copytree(vault, elsewhere)
    change(elsewhere)
    report = run(service, elsewhere)
    assert (report.newer, report.refused, report.left) == ([], {}, {})
    assert {note.id for note in all_notes(service)} == ids
    assert set(by_source(service)) == {"サーバー/ログ.md", "index.md", "plan.md"}


def test_part_of_a_vault_is_not_the_vault(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    part = vault.parent / "part"
    part.mkdir()
    shutil.copy(vault / "plan.md", part)
    report = run(service, part)
    assert (counts(report), report.left) == ((0, 1, 0, 0), {})
    (part / "index.md").write_text("別の目次", encoding="utf-8")
    assert counts(run(service, part)) == (1, 1, 0, 0)
    assert len(list(all_notes(service))) == 4


def test_moved_vault_may_have_a_renamed_and_a_deleted_file(service: KnowledgeService, vault: Path) -> None:
    (vault / "old.md").write_text("古い")
    run(service, vault)
    elsewhere = vault.rename(vault.parent / "elsewhere")
    (elsewhere / "plan.md").rename(elsewhere / "計画.md")
    (elsewhere / "old.md").unlink()
    report = run(service, elsewhere)
    assert counts(report) == (1, 2, 0, 0)
    assert [file.path for file in report.left.values()] == ["old.md"]


def test_another_vault_with_the_same_names_is_another(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    other = vault.parent / "other"
    other.mkdir()
    (other / "index.md").write_text("別の目次", encoding="utf-8")
    (other / "plan.md").write_text("another plan", encoding="utf-8")
    assert counts(run(service, other)) == (2, 0, 0, 0)
    assert len(list(all_notes(service))) == 5
    assert counts(run(service, vault)) == (0, 3, 0, 0)


def test_edit_survives_a_file_that_only_got_a_newer_date(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    note = by_source(service)["plan.md"]
    service.update(note.id, content="the plan, 改訂版")
    os.utime(vault / "plan.md", (4_000_000_000, 4_000_000_000))
    assert run(service, vault).newer == [vault / "plan.md"]
    assert service.get(note.id).content == "the plan, 改訂版"
    assert run(service, vault, overwrite=True).saved == 1
    assert service.get(note.id).content == "the plan"


def test_changed_file_with_an_older_date_updates_an_untouched_note(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    before = by_source(service)["plan.md"]
    (vault / "plan.md").write_text("前の版", encoding="utf-8")
    os.utime(vault / "plan.md", (1_000_000_000, 1_000_000_000))
    assert counts(run(service, vault)) == (1, 2, 0, 0)
    after = service.get(before.id)
    assert (after.content, after.updated_at > before.updated_at) == ("前の版", True)
    assert counts(run(service, vault)) == (0, 3, 0, 0)


def learned(service: KnowledgeService, source: str | None) -> Note:
    """The note of a file after people and hooks have added to it what is no change of its text."""
    note = by_source(service)[source]
    anchor = Anchor(repository="github.com/acme/shop", path="plan.py", lines="1-2")
    known = replace(note, signatures=["connection refused"], anchor=anchor, questions=["いつ？"], private=True)
    service.store.save(known, replacing=note)
    return service.confirm(note.id)


def test_unchanged_file_writes_nothing(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    note = learned(service, "plan.md")
    version = service.store.version_number(note.id)
    os.utime(vault / "plan.md", (2_000_000_000, 2_000_000_000))
    for overwrite in (False, False, True):  # which the file does not say otherwise
        assert counts(run(service, vault, overwrite=overwrite)) == (0, 3, 0, 0)
        assert (service.get(note.id), service.store.version_number(note.id)) == (note, version)


def test_changed_file_keeps_what_it_does_not_have(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    note = learned(service, "plan.md")
    file = vault / "plan.md"
    file.write_text("---\ntitle: plan\ntags: [q4]\n---\nthe plan", encoding="utf-8")
    assert counts(run(service, vault)) == (1, 2, 0, 0)
    tagged = service.get(note.id)
    assert tagged == replace(note, tags=["q4"], updated_at=tagged.updated_at)
    file.write_text("---\ntitle: plan\nquestions: []\nprivate: false\n---\nanother plan", encoding="utf-8")
    assert counts(run(service, vault)) == (1, 2, 0, 0)
    changed = service.get(note.id)
    unconfirmed = replace(tagged, confirmed_by=None, confirmed_at=None)  # nobody has confirmed the new text
    expected = replace(unconfirmed, content="another plan", questions=[], private=False)
    assert changed == replace(expected, updated_at=changed.updated_at)


def test_importing_an_older_export_keeps_what_was_added_since(service: KnowledgeService, tmp_path: Path) -> None:
    note_id = service.save("接続は 10 本まで", tags=["db"]).id
    exported = list(export_notes(service, tmp_path / "export"))
    note = learned(service, None)
    assert counts(run(service, tmp_path / "export")) == (0, 1, 0, 0)
    assert (service.get(note_id), len(exported)) == (note, 1)


def test_file_that_is_gone_is_listed(service: KnowledgeService, vault: Path) -> None:
    run(service, vault)
    note = by_source(service)["plan.md"]
    (vault / "plan.md").unlink()
    report = run(service, vault)
    assert {note_id: file.path for note_id, file in report.left.items()} == {note.id: "plan.md"}
    service.delete(note.id)
    assert run(service, vault).left == {}


def test_dry_run_changes_nothing(service: KnowledgeService, vault: Path) -> None:
    assert counts(run(service, vault, dry_run=True)) == (3, 0, 0, 0)
    assert list(all_notes(service)) == []
    assert service.imported_files() == {}


def test_notes_of_other_users_are_not_matched(service: KnowledgeService, vault: Path) -> None:
    with acting_as(User("aki")):
        run(service, vault)
    with acting_as(User("ben")):
        assert counts(run(service, vault)) == (3, 0, 0, 0)
        assert len(service.imported_files()) == 3
    assert len(list(all_notes(service))) == 6


def test_link_leads_to_a_file_of_an_earlier_import(service: KnowledgeService, vault: Path) -> None:
    """The page sends the files of a folder in several requests."""
    import_files(service, [vault / "サーバー" / "ログ.md"], folder=vault)
    import_files(service, [vault / "index.md"], folder=vault)
    notes = by_source(service)
    assert notes["index.md"].content == f"see [ログ](note://{notes['サーバー/ログ.md'].id}) #start"
