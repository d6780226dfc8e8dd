"""The store in PostgreSQL: the contract on a real server, the same scores as SQLite's, models and the index."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.contract.note_anchors import NoteAnchorContract
from tests.contract.note_decisions import NoteDecisionContract
from tests.contract.note_filters import NoteFilterContract
from tests.contract.note_links import NoteLinkContract
from tests.contract.note_recall import NoteRecallContract
from tests.contract.note_records import NoteRecordsContract
from tests.contract.note_review import NoteReviewContract
from tests.contract.note_spaces import NoteSpaceContract
from tests.contract.note_store import MOMENT, NoteStoreContract, a_note
from tests.contract.note_versions import NoteVersionContract
from tests.fakes.embedders import FailableEmbedder, HashingEmbedder
from tests.fakes.layouts import (
    IMPORTED,
    NOTES,
    PROPOSAL,
    SPACE,
    assert_same_results,
    assert_versions_and_links,
    has_recall,
    has_versions,
    load_postgres,
    notes_of,
)
from tests.fakes.postgres import new_schema, postgres_url
from tests.fakes.postgres_counts import assert_counts_are_true

from chie.knowledge.embedding.base import Embedder
from chie.knowledge.note import Note
from chie.knowledge.samples import SAMPLES
from chie.knowledge.search.query import Filters
from chie.knowledge.store import scoring as candidates
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.degraded import indexing_in_progress, saved_without_vectors, searched_by_words
from chie.knowledge.store.postgres import backfill, nearest, note_table, search, statistics
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message


@pytest.fixture
def fresh_store(server: str) -> Callable[[], NoteStore]:
    return lambda: PostgresStore(postgres_url(new_schema(server)), HashingEmbedder())


class TestContract(
    NoteStoreContract,
    NoteFilterContract,
    NoteRecallContract,
    NoteRecordsContract,
    NoteReviewContract,
    NoteDecisionContract,
    NoteVersionContract,
    NoteAnchorContract,
    NoteLinkContract,
    NoteSpaceContract,
):
    ORDERS = 4  # the orders are the rules', not the store's: SQLite's suite tries many more


QUERIES = [
    "nginx の 504 エラー",
    "docker disk full",
    "接続数の上限 max_connections",
    "日本語の検索が当たらない",
    "redis evicts sessions at night redis",
    "how do I deploy on friday",
    "ＶＰＮ ﾃﾞｰﾀ",
    "client_max_body_size 413",
    "🔐",
    "の",
    "zzzz qqqq",
    "ngixn dokcer disk ful max_conections",
    "dployment evicst sessons",
    "...",
]


def bilingual_notes() -> list[Note]:
    samples = [a_note(text, id=f"k-{at}", title=title, tags=tags) for at, (title, tags, text) in SAMPLES.items()]
    others = [
        a_note(
            f"redis が session を evict する {n % 7}。 redis redis {'検索 ' * (n % 5)}", id=f"k-r{n}", tags=["redis"]
        )
        for n in range(40)
    ]
    long = a_note("\n\n".join(f"第{n}章 deploy と VPN。" + "詳細な説明 details " * 30 for n in range(12)), id="k-long")
    secret = a_note("redis evicts sessions, 秘密", id="k-secret", user_id="aki", private=True)
    odd = a_note("…… 🔐 ‼", id="k-odd", title="…")
    return [*samples, *others, long, secret, odd]


class TestSameAsSqlite:
    """The same notes in both stores: every query finds the same passages with the same scores."""

    @pytest.fixture(params=["both", "words"])
    def pair(self, request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Iterator[tuple[NoteStore, NoteStore]]:
        embedder = FailableEmbedder()
        stores = SqliteStore(tmp_path / "same.db", embedder), PostgresStore(postgres_url(url), embedder)
        for store in stores:
            store.put_copies(bilingual_notes())
        for store in stores:  # corpora that have seen changes count as those that have not
            gone = a_note("redis deploy の VPN " * 40, id="k-gone")
            changed = replace(bilingual_notes()[0], content="changed: nginx と redis の検索", updated_at=MOMENT)
            store.save(gone)
            store.delete(gone.id)
            store.save(changed, replacing=bilingual_notes()[0])
        embedder.failing = request.param == "words"
        yield stores
        for store in stores:
            store.close()

    def compare(self, pair: tuple[NoteStore, NoteStore], **how: Any) -> int:
        """How many hits agreed."""
        agreed = 0
        for query in QUERIES:
            ours, theirs = (store.search(query, limit=100, **how).hits for store in pair)
            assert {hit.id: hit.content for hit in theirs} == {hit.id: hit.content for hit in ours}, query
            scores = {hit.id: hit.score for hit in ours}
            assert {hit.id: hit.score for hit in theirs} == pytest.approx(scores, abs=1.01e-4), query
            agreed += len(ours)
        return agreed

    def test_scores_are_the_same(self, pair: tuple[NoteStore, NoteStore]) -> None:
        assert self.compare(pair, tags=()) > 60

    def test_scores_are_the_same_under_a_filter(self, pair: tuple[NoteStore, NoteStore]) -> None:
        assert self.compare(pair, tags=("Redis",)) > 10
        assert self.compare(pair, tags=(), viewer=Viewer("aki")) > 60

    @pytest.mark.req("SE-4")
    @pytest.mark.parametrize(
        "filters",
        [
            Filters(after=MOMENT, authors=("anonymous",)),
            Filters(without_tags=("redis",)),
            Filters(phrases=("redis redis",)),
            Filters(excluded=("redis",), before=MOMENT + timedelta(days=1)),
            Filters(excluded=("検索", "deploy")),
        ],
    )
    def test_filters_leave_the_same(self, pair: tuple[NoteStore, NoteStore], filters: Filters) -> None:
        assert self.compare(pair, filters=filters) > 5
        listed = [[hit.id for hit in store.search("", limit=100, filters=filters).hits] for store in pair]
        assert listed[0] == listed[1] != []

    def test_scores_are_the_same_when_common_words_are_left_out(
        self, pair: tuple[NoteStore, NoteStore], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(candidates, "MAX_POSTINGS", 12)
        assert candidates.rarest_terms({"redis": 10, "night": 2, "the": 40}) == ["night", "redis"]
        assert self.compare(pair, tags=()) > 30


def test_word_that_very_many_passages_have_is_read_in_part(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_TERM_POSTINGS", 5)
    embedder = FailableEmbedder()
    embedder.failing = True
    store = PostgresStore(postgres_url(url), embedder)
    store.put_copies(bilingual_notes())
    assert len(store.search("redis", limit=100).hits) == 5
    store.close()


@pytest.mark.parametrize("tags", [(), ("redis",)])
@pytest.mark.parametrize("query", ["redis evicts sessions", "検索の障害", "zzzz"])
def test_search_takes_three_round_trips(
    store: NoteStore, monkeypatch: pytest.MonkeyPatch, query: str, tags: tuple[str, ...]
) -> None:
    store.put_copies(bilingual_notes())
    sent: list[object] = []
    send = psycopg.Cursor.execute

    def spy(cursor: Any, query: Any, *rest: Any, **more: Any) -> Any:
        sent.append(query)
        return send(cursor, query, *rest, **more)

    monkeypatch.setattr(psycopg.Cursor, "execute", spy)
    assert bool(store.search(query, limit=5, tags=tags).hits) == (query != "zzzz")
    assert len(sent) == 3


def test_the_model_that_we_ship_scores_the_same_in_both_stores(url: str, embedder: Embedder, tmp_path: Path) -> None:
    stores = SqliteStore(tmp_path / "same.db", embedder), PostgresStore(postgres_url(url), embedder)
    for store in stores:
        store.put_copies(bilingual_notes()[:14])
    ours, theirs = (
        [(hit.id, hit.score) for query in QUERIES for hit in store.search(query, limit=5, tags=()).hits]
        for store in stores
    )
    assert dict(theirs) == pytest.approx(dict(ours), abs=1.01e-4)
    assert len(ours) > 15
    for store in stores:
        store.close()


@pytest.mark.req("SE-3", "MT-9")
@pytest.mark.parametrize("version", [1, 3, 5, 6])
def test_database_of_an_older_version_is_upgraded_with_its_notes(url: str, server: str, version: int) -> None:
    load_postgres(url, version)
    notes = notes_of("postgresql", version)
    other = new_schema(server)
    upgraded, new = (PostgresStore(postgres_url(one), HashingEmbedder(dimension=8)) for one in (url, other))
    new.spaces.save(SPACE)
    for note in notes:
        new.save(note)
    upgraded.search("redis", limit=1, tags=())  # starts the background work, like any search after an upgrade
    wait_for(lambda: not upgraded._pool.read(lambda connection: note_table.outdated(connection, 1)))
    upgraded.finish_background_work()
    assert upgraded.walk(after=None, limit=9) == notes
    if has_recall("postgresql", version):
        assert upgraded.imported_files() == {"k-6": IMPORTED}
        assert upgraded.shown("session-1") == {"k-1"}
        assert upgraded.by_signature(PROPOSAL.signatures, viewer=Viewer("ben"), limit=1) == [PROPOSAL]
    if has_versions("postgresql", version):
        assert_versions_and_links(upgraded)
    for change in (NoteStore.count, lambda store: store.delete("k-3"), lambda store: store.save(NOTES[2])):
        for store in (upgraded, new):
            change(store)
        assert_same_results(upgraded, new)
        assert_counts_are_true(url)
    for store in (upgraded, new):
        store.close()
    assert tables(url) == tables(other)


def tables(url: str) -> list[tuple[Any, ...]]:
    """Every column and index."""
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, ordinal_position, data_type, collation_name, is_nullable, column_default"
            " FROM information_schema.columns WHERE table_schema = current_schema ORDER BY 1, 3"
        ).fetchall()
        indexes = connection.execute(
            "SELECT indexname, replace(indexdef, current_schema, '') FROM pg_indexes WHERE schemaname = current_schema"
            " ORDER BY 1"
        ).fetchall()
    return [*columns, *indexes]


def test_words_and_tags_too_long_for_an_index_are_found(store: NoteStore) -> None:
    word, tag = "ä" * 480, "ﷺ" * 100
    note = a_note(f"the key is {word}", tags=[tag])
    store.save(note)
    store.save(a_note("the key is elsewhere"))
    assert [hit.id for hit in store.search(word, limit=5, tags=[tag]).hits] == [note.id]
    assert [(found.tag, found.count) for found in store.tags()] == [(tag, 1)]


@pytest.mark.req("SE-5")
class TestModel:
    """Vectors of different models are never mixed, and never missing for long."""

    @pytest.fixture
    def opened(self, url: str) -> Iterator[Callable[[Embedder], PostgresStore]]:
        stores: list[PostgresStore] = []

        def opened(embedder: Embedder) -> PostgresStore:
            stores.append(PostgresStore(postgres_url(url), embedder))
            return stores[-1]

        yield opened
        for store in stores:
            store.close()

    def test_a_changed_model_reads_everything_again_in_the_background(
        self, url: str, opened: Callable[[Embedder], PostgresStore]
    ) -> None:
        before = opened(HashingEmbedder("1"))
        before.put_copies([a_note(f"finding number {number} about redis") for number in range(70)])
        after = opened(HashingEmbedder("2", dimension=32))
        found = after.search("finding number 7 about redis", limit=3, tags=())
        assert found.notice == indexing_in_progress(70)
        assert found.hits[0].content == "finding number 7 about redis"  # by its words, meanwhile
        wait_for(lambda: after.search("finding number 7", limit=1, tags=()).notice is None)
        after.finish_background_work()
        assert before.search("finding number 7 about redis", limit=1, tags=()).notice == indexing_in_progress(70)
        before.finish_background_work()
        assert after.search("finding number 7", limit=1, tags=()).notice is None  # both are in use: neither is deleted
        after.delete(found.hits[0].id)
        assert_counts_are_true(url)

    def test_vectors_of_another_dimension_are_ignored_and_replaced(
        self, opened: Callable[[Embedder], PostgresStore], url: str
    ) -> None:
        embedder = HashingEmbedder()
        before = opened(embedder)
        before.save(a_note("redis evicts sessions"))
        embedder._dimension = 96
        before.save(mismatched := a_note("nginx の 504 エラー"))
        store = opened(HashingEmbedder())
        assert store.embeddings([mismatched]) == {}
        map_data = store.map_data(limit=5)
        assert map_data is not None
        assert len(map_data.vectors) == 1
        assert store.search("504", limit=5, tags=()).hits[0].id == mismatched.id  # by its words, meanwhile
        store.save(a_note("redis again"))
        store.finish_background_work()
        assert len(store.embeddings([mismatched])) == 1
        assert [similar.id for similar in store.similar(replace(mismatched, id="k-other"), limit=5)] == [mismatched.id]
        assert_counts_are_true(url)

    def test_backfill_runs_in_one_process_at_a_time(self, opened: Callable[[Embedder], PostgresStore]) -> None:
        first, second = (opened(HashingEmbedder("2")) for _ in range(2))
        opened(HashingEmbedder("1")).save(a_note("\n\n".join("word " * 100 for _ in range(100))))
        for store in (first, second):
            store._model.ensure_name()
        left: list[int] = []
        assert first._pool.write(first._backfill._acquire_lease) is True
        second._backfill.run(left.append)
        assert left == []  # the other one holds the lease
        first._backfill.run(left.append)
        assert left == sorted(left, reverse=True)
        assert left[-1] == 0

    def test_note_deleted_during_embedding_leaves_no_vectors(
        self, url: str, opened: Callable[[Embedder], PostgresStore]
    ) -> None:
        notes = [a_note("one"), a_note("two")]
        writer, reader = (
            opened(HashingEmbedder("1")),
            opened(InterferingEmbedder("2", lambda: writer.delete(notes[0].id))),
        )
        writer.put_copies(notes)
        reader.finish_background_work()
        assert reader._pool.read(lambda c: c.execute("SELECT count(*) FROM knowledge_vectors").fetchone()) == (1,)
        assert_counts_are_true(url)

    def test_without_a_model_notes_are_saved_and_found_by_words(
        self, opened: Callable[[Embedder], PostgresStore]
    ) -> None:
        embedder = FailableEmbedder()
        store = opened(embedder)
        embedder.failing = True
        notice = store.save(a_note("redis evicts sessions"))
        reason = Message("embedding.model_load_failed")
        assert notice == saved_without_vectors(reason)
        found = store.search("sessions", limit=1, tags=())
        assert found.hits[0].content == "redis evicts sessions"
        assert found.notice == searched_by_words(reason)
        assert store.similar(a_note("redis evicts sessions"), limit=1) == []
        embedder.failing = False
        assert store.search("sessions", limit=1, tags=()).notice == indexing_in_progress(1)
        wait_for(lambda: store.search("sessions", limit=1, tags=()).notice is None)


class InterferingEmbedder(HashingEmbedder):
    """Runs a callback while the third text is embedded."""

    def __init__(self, version: str, interfere: Callable[[], object]) -> None:
        super().__init__(version)
        self._meddle = interfere

    def embed(self, texts: Any) -> Any:
        if "two" in texts:
            self._meddle()
        return super().embed(texts)


def wait_for(done: Callable[[], bool]) -> None:
    """The test's own time limit is the bound."""
    while not done():
        pass


@pytest.fixture(scope="module")
def indexed(server: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url(new_schema(server)), HashingEmbedder())
    notes = [
        a_note(
            f"redis case {n} {'kafka' if n % 3 else 'nginx'} {n * 7 % 11}",
            id=f"k-{n:03}",
            tags=["rare"] if n % 100 == 0 else [],
            private=n % 2 == 1,
            user_id="aki" if n % 2 else "ben",
        )
        for n in range(600)
    ]
    store.put_copies(notes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backfill, "MIN_INDEXED_VECTORS", 100)
        store.finish_background_work()
    yield store
    store.close()


class TestIndex:
    """Beyond a size HNSW proposes; no filter may make it lose what an exact scan would have found."""

    @pytest.fixture(autouse=True)
    def nothing_is_narrow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nearest, "MAX_EXACT_SCAN_PASSAGES", 0)

    def near(self, store: PostgresStore, text: str, count: int, **filters: Any) -> set[str]:
        """By meaning alone."""
        chosen: dict[str, Any] = {"labels": [], "viewer": Viewer("ben"), **filters}
        vector = store._vectors.embed([text])[0]
        passage_filter = PassageFilter(**chosen)

        def work(connection: Any) -> set[str]:
            stats = statistics.read(connection, store._vectors.model, chosen["viewer"])
            few = bool(passage_filter) and nearest.are_few(nearest.count_matches(passage_filter).run(connection))
            scan = nearest.first_scan(stats, store._vectors.dimension, passage_filter, count, few=few)
            near = [passage for passage, _ in nearest.nearest(connection, scan, vector)]
            found = connection.execute(
                "SELECT n.id FROM knowledge_notes n JOIN knowledge_passages p ON p.note = n.seq WHERE p.id = ANY(%s)",
                (near,),
            )
            return {row[0] for row in found}

        return store._pool.read(work, settings=nearest.SEARCH_SETTINGS)

    def test_the_planner_takes_the_index(self, indexed: PostgresStore) -> None:
        asked: list[str] = []
        run = psycopg.Cursor.execute

        def spy(cursor: Any, query: Any, *rest: Any, **more: Any) -> Any:
            if b"halfvec" in query:
                plan = cursor.connection.cursor()
                asked.extend(row[0] for row in run(plan, b"EXPLAIN " + query.partition(b"; ")[2]))
            return run(cursor, query, *rest, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(psycopg.Cursor, "execute", spy)
            assert indexed.search("redis case", limit=5, tags=(), viewer=Viewer("ben")).hits
        assert any("Index Scan using knowledge_nearest_" in line for line in asked), asked

    @pytest.mark.parametrize(
        "filters",
        [{}, {"viewer": Viewer("aki")}, {"labels": ["rare"]}, {"labels": ["rare"], "viewer": Viewer("nobody")}],
    )
    def test_filters_lose_nothing(
        self, indexed: PostgresStore, monkeypatch: pytest.MonkeyPatch, filters: dict[str, Any]
    ) -> None:
        for text in ("redis case 300 nginx", "kafka 7", "redis case 13"):
            proposed = self.near(indexed, text, 6, **filters)
            with monkeypatch.context() as patch:
                patch.setattr(nearest, "MAX_EXACT_SCAN_PASSAGES", 10_000)
                exact = self.near(indexed, text, 6, **filters)
            assert len(exact) == 6 if "labels" not in filters else len(exact) >= 3
            assert len(proposed) == len(exact)
            assert len(proposed & exact) >= len(exact) - 1  # proposals are approximate; the filter must not add to it

    def test_an_index_that_gives_up_early_is_followed_by_an_exact_scan(
        self, indexed: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(nearest, "MAX_INDEX_SCAN_ROWS", 1)
        assert self.near(indexed, "redis case 5", 6, labels=["rare"]) == {f"k-{n}00" for n in range(6)}

    def test_notes_saved_after_the_index_was_built_are_found_at_once_and_deleted_ones_are_not(
        self, indexed: PostgresStore
    ) -> None:
        note = a_note("something entirely new about 障害対応")
        indexed.save(note)
        assert indexed.search("entirely new 障害対応", limit=1, tags=()).hits[0].id == note.id
        indexed.delete(note.id)
        assert note.id not in {hit.id for hit in indexed.search("entirely new 障害対応", limit=9, tags=()).hits}

    def test_unfinished_index_is_rebuilt(self, store: PostgresStore, url: str) -> None:
        store.put_copies([a_note(f"note {n}") for n in range(20)])
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("CREATE INDEX knowledge_nearest_1 ON knowledge_vectors (note)")
            other.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'knowledge_nearest_1'::regclass")
        store._backfill.build_index(1, 20)
        kind = store._pool.read(
            lambda c: c.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'knowledge_nearest_1'").fetchall()
        )
        assert any("USING hnsw" in row[0] for row in kind)

    def test_vectors_come_back_as_they_were_given(self, store: PostgresStore) -> None:
        note = a_note("知恵")
        store.save(note)
        text, vector = next(iter(store.embeddings([note]).items()))
        assert np.array_equal(vector, HashingEmbedder().embed([text])[0])


def test_many_threads_may_use_one_store(store: NoteStore, url: str) -> None:
    def work(number: int) -> None:
        for turn in range(6):
            note = a_note(f"thread {number} turn {turn}")
            store.save(note)
            assert store.search(f"thread {number} turn {turn}", limit=1, tags=()).hits
            if turn % 2:
                store.delete(note.id)

    threads = [Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.check().notes == 30
    assert_counts_are_true(url)
