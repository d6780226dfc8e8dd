"""Notes as objects of the service: their passages, order and scores."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Event

import pytest
from tests.contract.note_store import MOMENT, a_note
from tests.fakes.vector_search import FakeVectorSearch, InjectedError
from tests.fakes.vector_search_data import Code, Kept

from chie.knowledge.store.vector_search import objects
from chie.knowledge.store.vector_search.store import VectorSearchStore

LONG = "\n\n".join(f"chapter {n}: redis evicts sessions. " + "filler " * 200 for n in range(5))


@pytest.mark.req("KG-12")
@pytest.mark.parametrize("text", ["redis evicts sessions", LONG], ids=["short", "long"])
def test_content_of_the_object_is_the_text_of_the_note(
    text: str, store: VectorSearchStore, kept: dict[str, Kept]
) -> None:
    note = a_note(text)
    store.save(note)
    assert kept[objects.head_id(note.id)].data["content"] == text
    assert store.get(note.id) == note


def test_short_note_of_an_older_version_is_read(store: VectorSearchStore, kept: dict[str, Kept]) -> None:
    note = a_note("redis evicts sessions")
    store.save(note)
    kept[objects.head_id(note.id)].data["content"] = ""
    assert store.get(note.id) == note


class TestLongNotes:
    """A long note is several objects, which are replaced and deleted with it."""

    def test_its_passages_come_and_go_with_it(self, store: VectorSearchStore, kept: dict[str, Kept]) -> None:
        long = a_note(LONG)
        short = replace(long, content="redis evicts sessions, in short")
        store.save(long)
        assert len(kept) == 5
        store.save(short, replacing=long)
        assert len(kept) == 1
        store.save(long, replacing=short)
        store.delete(long.id)
        assert kept == {}

    def test_it_is_saved_even_where_its_later_parts_could_not_be_written(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        long = a_note(LONG)
        service.fail("batch_create_data_objects", Code.INTERNAL)
        notice = store.save(long)
        assert notice is not None
        assert notice.code == "vector_search.passages_not_saved"
        assert store.get(long.id) == long
        assert store.save(long, replacing=long) is None
        assert any("chapter 4" in hit.content for hit in store.search("chapter 4", limit=1, tags=()).hits)

    def test_passages_that_a_crash_left_behind_are_never_shown(
        self, store: VectorSearchStore, kept: dict[str, Kept]
    ) -> None:
        long = a_note(LONG)
        store.save(long)
        left = {name: data for name, data in kept.items() if name.startswith("p-")}
        changed = replace(long, content="a different matter", title="different")
        store.save(changed, replacing=long)
        kept.update(left)
        assert all("chapter" not in hit.content for hit in store.search("redis evicts", limit=5, tags=()).hits)
        store.delete(long.id)
        assert kept == {}  # they go at last with their note
        kept.update(left)
        assert store.search("redis evicts", limit=5, tags=()).hits == []

    def test_old_passages_that_could_not_be_deleted_hide_nothing_and_go_with_the_next_change(
        self, service: FakeVectorSearch, store: VectorSearchStore, kept: dict[str, Kept]
    ) -> None:
        versions = [a_note(LONG, id="k-1", tags=[tag]) for tag in ("a", "b", "c", "d")]
        store.save(versions[0])
        for before, after in pairwise(versions[:3]):
            service.fail("batch_delete_data_objects", Code.INTERNAL)
            notice = store.save(after, replacing=before)
            assert notice is not None
            assert notice.code == "vector_search.old_passages_left"
        assert len(kept) == 1 + 3 * 4
        for query in ("chapter 4", "chapter 0", "filler"):
            assert [(hit.id, hit.tags) for hit in store.search(query, limit=5, tags=()).hits] == [("k-1", ["c"])]
        assert store.save(versions[3], replacing=versions[2]) is None
        assert set(kept) == {"k-1", *objects.passages(versions[3])}

    def test_slower_of_two_updates_keeps_the_passages_of_the_other(
        self, service: FakeVectorSearch, store: VectorSearchStore, kept: dict[str, Kept]
    ) -> None:
        first, second, third = (a_note(LONG, id="k-1", tags=[tag]) for tag in ("a", "b", "c"))
        store.save(first)
        slow = InjectedError("query_data_objects", None, barrier=(opened := Event()))
        service.injected.append(slow)
        with ThreadPoolExecutor(1) as beside:
            saving = beside.submit(store.save, second, replacing=first)
            assert slow.reached.wait(10)
            assert store.save(third, replacing=second) is None
            opened.set()
            assert saving.result() is None
        assert set(kept) == {"k-1", *objects.passages(third)}

    def test_parts_that_an_unanswered_batch_had_written_are_not_missed(
        self, service: FakeVectorSearch, store: VectorSearchStore, kept: dict[str, Kept]
    ) -> None:
        long = a_note(LONG)
        service.fail("batch_create_data_objects", Code.UNAVAILABLE, late=True)
        assert store.save(long) is None
        assert set(kept) == {long.id, *objects.passages(long)}
        service.fail("batch_delete_data_objects", Code.UNAVAILABLE, late=True)
        assert store.delete(long.id) is True
        assert kept == {}

    def test_a_very_long_note_is_written_in_batches_that_the_service_can_read(self, store: VectorSearchStore) -> None:
        huge = a_note("\n\n".join(f"section {n}\n" + "x" * 400 for n in range(260)))
        assert store.save(huge) is None
        assert store.get(huge.id) == huge


class TestOrder:
    """The service does not sort: the range is narrowed until it fits one page."""

    @pytest.mark.parametrize("page", [7, 20, 1000])
    @pytest.mark.parametrize("shuffled", [False, True])
    def test_pages_are_complete_and_sorted(
        self, service: FakeVectorSearch, store: VectorSearchStore, page: int, *, shuffled: bool
    ) -> None:
        numbers = [(n * 37) % 60 for n in range(60)] if shuffled else list(range(60))
        for number in numbers:
            store.save(a_note(f"note {number}", created_at=MOMENT + timedelta(minutes=number // 2)))
        service.page = page
        seen, cursor = list[str](), None
        while True:
            part = store.browse(tag=None, limit=5, cursor=cursor)
            seen += [note.title for note in part.notes]
            cursor = part.next_cursor
            if cursor is None:
                break
        moments = [int(title.split()[1]) // 2 for title in seen]
        assert sorted(seen) == sorted({f"note {n}" for n in range(60)})
        assert moments == sorted(moments, reverse=True)

    def test_a_first_page_of_many_notes_takes_few_calls(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        for number in range(120):
            store.save(a_note(f"note {number}", created_at=MOMENT + timedelta(minutes=(number * 37) % 120)))
        service.page = 20
        before = service.calls["query_data_objects"]
        assert len(store.browse(tag=None, limit=3, cursor=None).notes) == 3
        assert service.calls["query_data_objects"] - before <= 4  # of six pages in all

    def test_a_walk_passes_ids_of_every_kind(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        names = ["k-00ff", "My Note", "my-note", "知恵", "k-00ffaa", "a" * 200, "k-00ff-x", "p-1"]
        for name in names:
            store.save(a_note(f"about {name}", id=name))
        service.page = 3
        met, after = list[str](), None
        while part := store.walk(after=after, limit=2):
            met += [note.id for note in part]
            after = part[-1].id
        assert met == sorted(names)
        assert all(store.get(name) is not None for name in names)


def test_scores_never_contradict_the_order_of_the_service(store: VectorSearchStore) -> None:
    """`ERR_42` is in one note alone, whose other words make it unlike the query: it comes first all the same."""
    exact = a_note("ERR_42 " + "appears in the long tail of an unrelated report about printers and toner")
    near = [a_note(f"the gateway answers with error number {n}") for n in range(3)]
    for note in (exact, *near):
        store.save(note)
    hits = store.search("ERR_42", limit=4, tags=()).hits
    assert hits[0].id == exact.id
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_query_without_an_answer_has_no_hits(store: VectorSearchStore) -> None:
    store.save(a_note("redis evicts sessions"))
    assert store.search("zebra", limit=5, tags=()).hits == []
