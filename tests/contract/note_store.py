"""The contract of NoteStore. Each adapter's test module subclasses it and provides the fixture `store`."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from chie.errors import ConflictError, ValidationError
from chie.knowledge.note import Note, new_id
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

# One suite serves many stores, each with its fixture.
ONE_SUITE = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]

MOMENT = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)

# Any text that the service lets through: no control characters, no halves of surrogate pairs, no blank ends.
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=300).filter(
    lambda text: text == text.strip()
)


def a_note(content: str = "nginx answers 413 when client_max_body_size is too small", **fields: object) -> Note:
    base = Note(id=new_id(), title=content[:30], content=content, created_at=MOMENT, updated_at=MOMENT)
    return replace(base, **fields)  # type: ignore[arg-type]


class NoteStoreContract:
    ORDERS = 25  # of writes that are tried

    def test_saved_note_round_trips(self, store: NoteStore) -> None:
        where = "https://example.com/x"
        note = a_note(tags=["nginx", "日本語"], source=where, status="draft", user_id="aki", private=True)
        store.save(note)
        assert store.get(note.id) == note

    @given(content=TEXT, title=TEXT, tags=st.lists(TEXT.filter(lambda tag: len(tag) < 50), max_size=4, unique=True))
    @settings(max_examples=60, suppress_health_check=ONE_SUITE)
    def test_any_text_survives(self, store: NoteStore, content: str, title: str, tags: list[str]) -> None:
        note = a_note(content, title=title, tags=tags)
        store.save(note)
        assert store.get(note.id) == note

    def test_an_unknown_id_is_none(self, store: NoteStore) -> None:
        store.save(a_note())
        for unknown in ("k-0", "", "' OR 1=1 --", '"', "k-%", "知恵"):
            assert store.get(unknown) is None
            assert store.delete(unknown) is False

    def test_a_saved_note_is_in_the_very_next_search(self, store: NoteStore) -> None:
        for content in ("redis evicts sessions", "kafka rebalances", "検索の結果が空になる"):
            note = a_note(content)
            store.save(note)
            assert store.search(content, limit=1, tags=()).hits[0].id == note.id

    def test_a_deleted_note_is_gone_from_everywhere(self, store: NoteStore) -> None:
        gone, kept = a_note("redis evicts sessions"), a_note("redis evicts sessions at night")
        store.save(gone)
        store.save(kept)
        assert store.delete(gone.id) is True
        assert store.get(gone.id) is None
        assert [hit.id for hit in store.search("redis evicts sessions", limit=5, tags=()).hits] == [kept.id]
        assert [note.id for note in store.browse(tag=None, limit=5, cursor=None).notes] == [kept.id]
        assert store.similar(kept, limit=5) == []

    def test_replaced_note_is_found_only_by_its_new_words(self, store: NoteStore) -> None:
        old = a_note("the printer needs toner")
        new = replace(old, content="the scanner needs a cable", updated_at=MOMENT + timedelta(days=1))
        store.save(old)
        store.save(new, replacing=old)
        assert store.get(old.id) == new
        assert store.search("scanner cable", limit=1, tags=()).hits[0].id == old.id
        assert all("printer" not in hit.content for hit in store.search("printer toner", limit=5, tags=()).hits)

    def test_saving_over_another_version_is_a_conflict_and_changes_nothing(self, store: NoteStore) -> None:
        first = a_note("one")
        second = replace(first, content="two")
        store.save(first)
        store.save(second, replacing=first)
        with pytest.raises(ConflictError):
            store.save(replace(first, content="three"), replacing=first)
        with pytest.raises(ConflictError):
            store.save(first)
        assert store.get(first.id) == second

    def test_replacing_a_note_that_was_deleted_is_a_conflict(self, store: NoteStore) -> None:
        note = a_note("one")
        store.save(note)
        store.delete(note.id)
        with pytest.raises(ConflictError):
            store.save(replace(note, content="two"), replacing=note)
        assert store.get(note.id) is None

    def test_scores_are_similarities_best_first(self, store: NoteStore) -> None:
        for content in ("redis evicts sessions", "redis evicts", "redis", "something else entirely"):
            store.save(a_note(content))
        hits = store.search("redis evicts sessions", limit=10, tags=()).hits
        scores = [hit.score for hit in hits]
        assert hits[0].content == "redis evicts sessions"
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)

    def test_the_limit_counts_notes_not_passages(self, store: NoteStore) -> None:
        long = a_note("\n\n".join(f"chapter {n}: redis evicts sessions. " + "filler " * 60 for n in range(30)))
        short = a_note("redis evicts sessions sometimes")
        store.save(long)
        store.save(short)
        hits = store.search("redis evicts sessions", limit=2, tags=()).hits
        assert {hit.id for hit in hits} == {long.id, short.id}

    def test_a_hit_of_a_long_note_shows_the_passage_that_fits(self, store: NoteStore) -> None:
        filler = "The quick brown fox jumps over the lazy dog. " * 40
        long = a_note(f"{filler}\n\nThe backup key is kept in the blue safe.\n\n{filler}")
        store.save(long)
        hit = store.search("backup key blue safe", limit=1, tags=()).hits[0]
        assert "blue safe" in hit.content
        assert hit.partial is True
        assert len(hit.content) < len(long.content) / 2

    def test_hit_has_the_fields_of_its_note(self, store: NoteStore) -> None:
        note = a_note(tags=["nginx"], source="wiki/nginx.md", status="draft", user_id="aki")
        store.save(note)
        hit = store.search("nginx 413", limit=1, tags=()).hits[0]
        assert (hit.title, hit.content, hit.tags) == (note.title, note.content, note.tags)
        assert (hit.source, hit.status, hit.user_id) == (note.source, note.status, note.user_id)
        assert (hit.created_at, hit.updated_at, hit.partial) == (note.created_at, note.updated_at, False)

    def test_search_returns_notes_with_all_tags(self, store: NoteStore) -> None:
        both, one = a_note("redis one", tags=["Cache", "本番"]), a_note("redis two", tags=["cache"])
        store.save(both)
        store.save(one)

        def found(*tags: str) -> set[str]:
            return {hit.id for hit in store.search("redis", limit=5, tags=tags).hits}

        assert found("cache") == {both.id, one.id}
        assert found("CACHE", "本番") == {both.id}
        assert found("nothing") == set()

    def test_tag_filter_applies_before_ranking(self, store: NoteStore) -> None:
        for number in range(80):
            store.save(a_note(f"redis evicts sessions {number}"))
        rare = a_note("redis, rarely", tags=["rare"])
        store.save(rare)
        assert [hit.id for hit in store.search("redis evicts sessions", limit=1, tags=["rare"]).hits] == [rare.id]

    def test_pages_have_every_note_once_newest_first(self, store: NoteStore) -> None:
        notes = [a_note(f"note {n}", created_at=MOMENT + timedelta(minutes=n // 2)) for n in range(7)]
        for note in notes:
            store.save(note)
        seen, cursor = list[Note](), None
        while True:
            page = store.browse(tag=None, limit=3, cursor=cursor)
            seen.extend(page.notes)  # type: ignore[arg-type]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert [n.id for n in seen] == [n.id for n in sorted(notes, key=lambda n: (n.created_at, n.id), reverse=True)]

    def test_a_page_can_be_of_one_tag(self, store: NoteStore) -> None:
        tagged = a_note("one", tags=["Nginx"])
        store.save(tagged)
        store.save(a_note("two"))
        assert [n.id for n in store.browse(tag="nginx", limit=5, cursor=None).notes] == [tagged.id]

    def test_impossible_id_or_tag_matches_nothing(self, store: NoteStore) -> None:
        store.save(a_note("redis", tags=["nginx"]))
        assert store.get("a\0b") is None
        assert store.delete("a\0b") is False
        assert store.browse(tag="ngi\0nx", limit=5, cursor=None).notes == []
        assert store.search("redis", limit=5, tags=["ngi\0nx"]).hits == []

    @pytest.mark.parametrize(
        "cursor",
        ["x", "!!!", "AAAA", "知恵", "2026-04-01"]
        + [
            base64.urlsafe_b64encode(text.encode()).decode()
            for text in (
                "2024-W01-1 k-1",
                "2024-01-01 k-1",
                "2024-01-01T00:00:00.000000+00:00 k-\0",
                "0001-01-01T00:00:00.000000+09:00 k-1",
            )
        ],
    )
    def test_made_up_cursor_is_rejected(self, store: NoteStore, cursor: str) -> None:
        with pytest.raises(ValidationError, match="without a cursor"):
            store.browse(tag=None, limit=1, cursor=cursor)

    def test_similar_notes_exclude_the_note_itself(self, store: NoteStore) -> None:
        first = a_note("redis evicts sessions when memory is short")
        store.save(first)
        store.save(a_note("a completely different matter about printers"))
        again = a_note("redis evicts sessions when memory is short")
        assert [s.id for s in store.similar(again, limit=3)] == [first.id]
        assert store.similar(first, limit=3) == []

    def test_tags_are_counted_regardless_of_case(self, store: NoteStore) -> None:
        assert list(store.tags()) == []
        for tags in (["Docker", "検索"], ["docker"], ["Docker", "nginx"]):
            store.save(a_note(tags=tags))
        assert [(found.tag, found.count) for found in store.tags()] == [("Docker", 3), ("nginx", 1), ("検索", 1)]

    def test_map_data_has_the_newest_notes_and_their_vectors(self, store: NoteStore) -> None:
        notes = [a_note(f"note {n}", tags=["a"], created_at=MOMENT + timedelta(minutes=n)) for n in range(5)]
        for note in notes:
            store.save(note)
        map_data = store.map_data(limit=3)
        assert map_data is not None
        assert [(note.id, note.title, note.tags) for note in map_data.notes] == [
            (note.id, note.title, ["a"]) for note in reversed(notes[2:])
        ]
        assert map_data.vectors.shape[0] == 3

    def test_map_data_is_returned_only_after_a_change(self, store: NoteStore) -> None:
        empty = store.map_data(limit=3)
        assert empty is not None
        assert (empty.notes, len(empty.vectors)) == ([], 0)
        seen, note = empty.revision, a_note("one")
        for change in (
            lambda: store.save(note),
            lambda: store.save(replace(note, title="two"), replacing=note),
            lambda: store.delete(note.id),
        ):
            assert store.map_data(limit=3, known=seen) is None
            change()
            map_data = store.map_data(limit=3, known=seen)
            assert map_data is not None
            seen = map_data.revision

    def test_private_note_is_visible_only_to_its_author(self, store: NoteStore) -> None:
        """In lists, searches, tags and maps; shared notes stay visible."""
        secret = a_note("redis evicts sessions", tags=["Ours", "mine"], user_id="aki", private=True)
        shared = a_note("redis evicts sessions", tags=["ours"], user_id="aki")
        store.save(secret)
        store.save(shared)
        both, one = {secret.id, shared.id}, {shared.id}
        for viewer, seen in (("aki", both), ("ben", one), ("anonymous", one)):
            assert _seen(store, viewer) == [seen] * 4
            assert store.count(viewer=Viewer(viewer)) == len(seen)
            assert [(tag.tag.casefold(), tag.count) for tag in store.tags(viewer=Viewer(viewer))][:1] == [
                ("ours", len(seen))
            ]
        assert [tag.tag for tag in store.tags(viewer=Viewer("ben"))] == ["ours"]
        assert store.get(secret.id) == secret
        assert store.check().notes == 2

    def test_hidden_notes_do_not_displace_visible_ones(self, store: NoteStore) -> None:
        for number in range(80):
            store.save(a_note(f"redis evicts sessions {number}", tags=["redis"], user_id="aki", private=True))
        shared = a_note("redis, rarely", tags=["redis"])
        store.save(shared)
        for tags in ((), ("redis",)):
            assert [hit.id for hit in store.search("redis evicts", limit=1, tags=tags, viewer=Viewer("ben")).hits] == [
                shared.id
            ]

    def test_visibility_of_a_note_can_change(self, store: NoteStore) -> None:
        shared = a_note("redis evicts sessions", user_id="aki")
        secret = replace(shared, private=True)
        store.save(shared)
        store.save(secret, replacing=shared)
        assert _seen(store, "ben") == [set()] * 4
        store.save(shared, replacing=secret)
        assert _seen(store, "ben") == [{shared.id}] * 4

    def test_walk_returns_every_note_once_in_order(self, store: NoteStore) -> None:
        notes = [a_note(f"note {n}", user_id="aki", private=n % 2 == 0) for n in range(7)]
        for note in notes:
            store.save(note)
        met, after = list[Note](), None
        while part := store.walk(after=after, limit=3):
            met.extend(part)
            after = part[-1].id
        assert met == sorted(notes, key=lambda note: note.id)

    def test_health_counts_the_notes(self, store: NoteStore) -> None:
        assert store.check().notes == 0
        store.save(a_note())
        assert store.check().notes == 1

    def test_store_behaves_like_a_dict(self, fresh_store: Callable[[], NoteStore]) -> None:
        class OnThisStore(_Model):
            def __init__(self) -> None:
                super().__init__(fresh_store())

        run_state_machine_as_test(OnThisStore, settings=settings(max_examples=self.ORDERS))


def _seen(store: NoteStore, viewer: str) -> list[set[str]]:
    """The ids that lists, searches, tags and maps show to the viewer."""
    alike = a_note("redis evicts sessions")
    map_data = store.map_data(limit=9, viewer=Viewer(viewer))
    return [
        {note.id for note in store.browse(tag=None, limit=9, cursor=None, viewer=Viewer(viewer)).notes},
        {hit.id for hit in store.search("redis evicts", limit=9, tags=(), viewer=Viewer(viewer)).hits},
        {similar.id for similar in store.similar(alike, limit=9, viewer=Viewer(viewer))},
        {note.id for note in map_data.notes} if map_data else set(),
    ]


class _Model(RuleBasedStateMachine):
    """The store against a dict."""

    def __init__(self, store: NoteStore) -> None:
        super().__init__()
        self.store = store
        self.notes: dict[str, Note] = {}

    @rule(content=TEXT, tags=st.lists(st.sampled_from(["a", "B", "検索"]), max_size=2, unique=True))
    def save(self, content: str, tags: list[str]) -> None:
        note = a_note(content, tags=tags)
        self.store.save(note)
        self.notes[note.id] = note

    @precondition(lambda self: self.notes)
    @rule(data=st.data(), content=TEXT)
    def replace(self, data: st.DataObject, content: str) -> None:
        old = self.notes[data.draw(st.sampled_from(sorted(self.notes)))]
        new = replace(old, content=content)
        self.store.save(new, replacing=old)
        self.notes[old.id] = new

    @precondition(lambda self: self.notes)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        note_id = data.draw(st.sampled_from(sorted(self.notes)))
        assert self.store.delete(note_id) is True
        del self.notes[note_id]

    @precondition(lambda self: self.notes)
    @rule(data=st.data())
    def search(self, data: st.DataObject) -> None:
        """The note whose text is asked for is among the best, unless others say the same."""
        note = self.notes[data.draw(st.sampled_from(sorted(self.notes)))]
        same = {n.id for n in self.notes.values() if n.content == note.content}
        hits = self.store.search(note.content, limit=100, tags=()).hits
        assert same <= {hit.id for hit in hits} <= set(self.notes)

    @invariant()
    def holds_the_same(self) -> None:
        assert self.store.check().notes == len(self.notes)
        for note_id, note in self.notes.items():
            assert self.store.get(note_id) == note

    def teardown(self) -> None:
        self.store.close()
