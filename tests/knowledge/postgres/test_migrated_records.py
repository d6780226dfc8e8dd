"""`chie notes migrate` carries what is kept beside notes, in both directions, and says what it found."""

import re
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.contract.note_store import MOMENT, a_note
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import postgres_url

from chie.access.identity import User, acting_as
from chie.cli import main
from chie.knowledge.embedding.precomputed import PrecomputedEmbedder
from chie.knowledge.inbox.inbox import Inbox
from chie.knowledge.migration import Journal, Migration, MigrationReport
from chie.knowledge.note import ImportedFile
from chie.knowledge.records import RecordedSearch
from chie.knowledge.review.findings import FoundPair, ReviewDecision
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.record_copies import TABLES
from chie.knowledge.store.records import SqlRecords, schema
from chie.knowledge.store.review_records import review_schema
from chie.knowledge.store.sql_store import SqlNoteStore
from chie.knowledge.store.sqlite.store import SqliteStore

AKI, BEN = User("aki"), User("ben")


@pytest.fixture
def carried() -> PrecomputedEmbedder:
    return PrecomputedEmbedder(HashingEmbedder())


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite"])
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, url: str, carried: PrecomputedEmbedder
) -> Iterator[tuple[SqlNoteStore, SqlNoteStore]]:
    file, database = tmp_path / "notes.db", postgres_url(url)
    pair: tuple[SqlNoteStore, SqlNoteStore]
    if request.param.startswith("sqlite"):
        pair = (SqliteStore(file, HashingEmbedder()), PostgresStore(database, carried))
    else:
        pair = (PostgresStore(database, HashingEmbedder()), SqliteStore(file, carried))
    with closing(pair[0]), closing(pair[1]):
        yield pair


def migrated(source: SqlNoteStore, target: SqlNoteStore, carried: PrecomputedEmbedder, path: Path) -> MigrationReport:
    return Migration(source, target, carried, Journal.open(path)).run(lambda _: nullcontext(lambda _: None))


def fill(store: SqlNoteStore) -> tuple[str, str]:
    """Something in every table; a note and a rejected proposal."""
    records = store.records
    assert isinstance(records, SqlRecords)
    service = KnowledgeService(store)
    with acting_as(AKI):
        note_id = service.save("接続は 10 本まで", tags=["db"]).id
        service.update(note_id, content="接続は 20 本まで")
        proposal = service.save("proposed", proposal=True).id
        other = service.save("接続は 30 本まで").id
    with acting_as(BEN):
        Inbox(service).reject(proposal)
    store.remember_files({note_id: ImportedFile(vault="v", path="a.md", fingerprint="5f", version=MOMENT)})
    records.add_uses({(note_id, "shown"): 250, (note_id, "cited"): 2})
    for number in range(150):
        records.mark(f"k-{number}", "aki", "helpful")
    records.mark(note_id, "ben", "wrong")
    records.agree("aki", recording=True)
    records.record_search("aki", RecordedSearch(query="接続", note=note_id, at=MOMENT))
    records.add_unanswered("aki", "zanzibar", MOMENT)
    first, second = sorted((note_id, other))
    pair = FoundPair(a=first, b=second, kind="contradiction", probability=0.75, reason="number", here="1", there="2")
    records.store_pairs({first: "v1"}, [pair])
    records.store_review_decision(
        ReviewDecision(id="d-1", finding="f", fingerprint="p", action="dismiss", by="aki", at=MOMENT)
    )
    store.spaces.save(Space(name="ops", grants={"ben": "write", "cho": "read"}))
    store.spaces.bind("github.com/acme/shop", "ops")
    return note_id, proposal


def test_no_table_is_forgotten() -> None:
    assert set(re.findall(r"CREATE TABLE (\w+)", schema("") + review_schema(""))) == set(TABLES)


def test_everything_beside_notes_is_carried(
    stores: tuple[SqlNoteStore, SqlNoteStore], carried: PrecomputedEmbedder, tmp_path: Path
) -> None:
    source, target = stores
    _, proposal = fill(source)
    report = migrated(source, target, carried, tmp_path / "journal")
    ours, theirs = source.records, target.records
    assert isinstance(ours, SqlRecords)
    assert isinstance(theirs, SqlRecords)
    for name in TABLES:
        rows = ours.rows(name, after=None, limit=999)
        assert rows, name
        assert sorted(theirs.rows(name, after=None, limit=999)) == sorted(rows), name
        assert report.records.total[name.replace("_", " ")] == len(rows)
    assert {kind: report.records.total[kind] for kind in ("spaces", "earlier versions", "imported files")} == {
        "spaces": 2, "earlier versions": 2, "imported files": 1
    }  # fmt: skip
    assert not report.records.copied.total()
    assert not report.records.kept
    with acting_as(BEN):
        assert Inbox(KnowledgeService(target)).undo(proposal).proposal


def test_what_the_target_says_otherwise_is_kept_and_named(
    stores: tuple[SqlNoteStore, SqlNoteStore], carried: PrecomputedEmbedder, tmp_path: Path
) -> None:
    """Most of all a grant that was revoked there."""
    source, target = stores
    note_id, _ = fill(source)
    migrated(source, target, carried, tmp_path / "journal")
    target.spaces.grant("ops", "ben", "none")
    target.records.mark(note_id, "ben", "helpful")
    target.records.add_uses({(note_id, "shown"): 5})
    source.records.add_uses({(note_id, "cited"): 1})
    report = migrated(source, target, carried, tmp_path / "journal")
    assert target.spaces.all()[0].grants == {"cho": "read"}
    assert target.records.marks(note_id) == {"ben": "helpful"}
    assert target.records.uses(note_id) == {"shown": 255, "cited": 3}
    kept = dict(report.records.kept)
    assert {kind: kept[kind] for kind in ("spaces", "marks", "uses")} == {"spaces": 1, "marks": 1, "uses": 1}


def test_a_space_that_changes_between_two_passes_is_copied_again(
    stores: tuple[SqlNoteStore, SqlNoteStore], carried: PrecomputedEmbedder, tmp_path: Path
) -> None:
    source, target = stores
    fill(source)
    journal = Journal.open(tmp_path / "journal")

    def interfere(number: int) -> object:
        if number == 1:
            source.spaces.grant("ops", "ben", "none")
            note = a_note("late", space="ops")
            source.save(note)
            source.save(replace(note, content="later", updated_at=MOMENT + timedelta(days=1)), replacing=note)
        return nullcontext(lambda _: None)

    Migration(source, target, carried, journal).run(interfere)  # type: ignore[arg-type]
    assert target.spaces.all() == source.spaces.all()
    assert target.check().notes == source.check().notes


def test_the_command_says_what_it_carried(home: Path, url: str) -> None:
    with closing(SqliteStore(home / "chie.db", HashingEmbedder())) as store:
        fill(store)
    done = CliRunner().invoke(main, ["notes", "migrate", "--to", url])
    assert done.exit_code == 0, done.output
    for part in ("2 spaces", "2 earlier versions", "151 marks", "2 uses", "1 review decisions", "1 decisions"):
        assert part in done.output
    assert "kept there" not in done.output
