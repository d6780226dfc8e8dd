"""What the review needs of a store. The SQL stores' test modules subclass it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.records import NoteState
from chie.knowledge.review.findings import FoundPair, ReviewDecision, UnansweredSearch
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.review_records import MAX_UNANSWERED, ReviewRecords
from chie.knowledge.viewer import Viewer


def records_of(store: NoteStore) -> ReviewRecords:
    assert isinstance(store.records, ReviewRecords)
    return store.records


def a_pair(a: str, b: str, probability: float = 0.9) -> FoundPair:
    return FoundPair(
        a=a, b=b, kind="contradiction", probability=probability, reason="number", here="30 秒", there="60 s"
    )


class NoteReviewContract:
    @pytest.mark.req("MT-3")
    def test_review_sees_notes_but_no_proposals_and_nothing_private_of_others(self, store: NoteStore) -> None:
        shared, private = a_note("shared"), a_note("private", private=True, user_id="aki", confirmed_at=MOMENT)
        for note in (shared, private, a_note("proposed", proposal=True)):
            store.save(note)
        assert {note.id for note in store.review_notes()} == {shared.id, private.id}
        assert {note.id for note in store.review_notes(viewer=Viewer("ben"))} == {shared.id}
        found = {note.id: note for note in store.review_notes(viewer=Viewer("aki"))}
        assert (found[private.id].owner, found[private.id].confirmed_at) == ("aki", MOMENT)
        assert (found[shared.id].owner, found[shared.id].updated_at) == (None, shared.updated_at)

    @pytest.mark.req("MT-3")
    def test_a_note_is_superseded_only_for_those_who_see_by_what(self, store: NoteStore) -> None:
        old, older = a_note("old"), a_note("older")
        new = a_note("new", supersedes=[old.id], private=True, user_id="aki")
        for note in (old, older, new, a_note("proposed", supersedes=[older.id], proposal=True)):
            store.save(note)
        assert {note.id for note in store.review_notes(viewer=Viewer("ben"))} == {old.id, older.id}
        narrowed = Viewer("aki").within(["team"])
        for viewer in (Viewer("aki"), narrowed):
            assert {note.id for note in store.review_notes(viewer=viewer)} == {older.id, new.id}

    @pytest.mark.req("MT-3")
    def test_every_note_has_the_vector_of_its_first_passage(self, store: NoteStore) -> None:
        notes = [a_note("first"), a_note("二つ目のメモ")]
        for note in notes:
            store.save(note)
        found = store.first_vectors()
        assert found is not None
        assert sorted(found[0]) == sorted(note.id for note in notes)
        assert len(found[1]) == len(notes)
        assert store.embed(["word"]).shape[1] == found[1].shape[1]

    @pytest.mark.req("MT-3")
    def test_pairs_of_a_note_are_replaced_when_it_is_compared_again(self, store: NoteStore) -> None:
        records = records_of(store)
        for number in (1, 2, 3):
            store.save(a_note(f"note {number}", id=f"k-{number}"))
        first, second = a_pair("k-1", "k-2", 0.7), a_pair("k-2", "k-3")
        records.store_pairs({"k-1": "v1", "k-2": "v1", "k-3": "v1"}, [first, second])
        assert records.pairs() == [second, first]
        changed = replace(first, there="90 s")
        records.store_pairs({"k-1": "v2"}, [changed])
        assert records.pairs() == [second, changed]
        assert records.checked() == {"k-1": "v2", "k-2": "v1", "k-3": "v1"}
        records.forget_notes(["k-2"])
        assert (records.pairs(), records.checked()) == ([], {"k-1": "v2", "k-3": "v1"})

    @pytest.mark.req("MT-3")
    def test_what_was_found_of_a_note_that_is_deleted_meanwhile_is_not_stored(self, store: NoteStore) -> None:
        """It quotes the note, which may have been deleted for good while it was compared."""
        records, notes = records_of(store), [a_note(f"note {number}", id=f"k-{number}") for number in (1, 2)]
        for note in notes:
            store.save(note)
        store.delete("k-2")
        records.store_pairs({"k-1": "v1", "k-2": "v1"}, [a_pair("k-1", "k-2")])
        assert (records.pairs(), records.checked()) == ([], {"k-1": "v1"})

    @pytest.mark.req("MT-3")
    def test_decisions_are_kept_with_the_notes_that_they_changed(self, store: NoteStore) -> None:
        records = records_of(store)
        decision = ReviewDecision(
            id="d-1",
            finding="f",
            fingerprint="same",
            action="merge",
            by="aki",
            at=MOMENT,
            notes=["k-1", "メモ"],
            before=[NoteState.of(a_note("前"), 4)],
        )
        records.store_review_decision(decision)
        assert records.review_decision("d-1") == decision
        assert records.decided() == {("f", "same"): MOMENT}
        records.forget_review_decision("d-1")
        assert (records.review_decision("d-1"), records.decided()) == (None, {})

    @pytest.mark.req("MT-3")
    def test_dismissals_are_told_from_decisions_on_notes_with_any_text(self, store: NoteStore) -> None:
        records = records_of(store)
        misleading = ['{"action":"dismiss"}']
        merged = ReviewDecision(
            id="d-1", finding="f", fingerprint="same", action="merge", by="aki", at=MOMENT, notes=misleading
        )
        records.store_review_decision(merged)
        assert records.dismissed() == set()
        records.store_review_decision(replace(merged, id="d-2", finding="g", action="dismiss"))
        assert records.dismissed() == {("g", "same")}

    @pytest.mark.req("MT-3")
    def test_uses_are_dated(self, store: NoteStore) -> None:
        records = records_of(store)
        store.records.add_uses({("k-1", "shown"): 1})
        records.remember_uses(["k-1", "k-2"], MOMENT)
        assert records.last_uses() == {"k-1": MOMENT, "k-2": MOMENT}

    @pytest.mark.req("MT-3")
    def test_unanswered_searches_are_counted_by_user_until_consent_is_withdrawn(self, store: NoteStore) -> None:
        records = records_of(store)
        later = MOMENT + timedelta(hours=1)
        records.add_unanswered("aki", "請求書の宛名", MOMENT)
        records.add_unanswered("ben", "請求書の宛名", later)
        records.add_unanswered("ben", "vpn", MOMENT)
        both = UnansweredSearch(query="請求書の宛名", count=2, last_at=later)
        assert records.unanswered(None) == [both, UnansweredSearch(query="vpn", count=1, last_at=MOMENT)]
        assert records.unanswered("aki") == [UnansweredSearch(query="請求書の宛名", count=1, last_at=MOMENT)]
        store.records.agree("ben", recording=False)
        assert [search.query for search in records.unanswered(None)] == ["請求書の宛名"]
        store.records.agree("aki", recording=False)
        assert records.unanswered(None) == []

    @pytest.mark.req("MT-3")
    def test_unanswered_searches_are_forgotten_by_text(self, store: NoteStore) -> None:
        records = records_of(store)
        for user, query in (("aki", "vpn"), ("ben", "vpn"), ("ben", "請求書の宛名")):
            records.add_unanswered(user, query, MOMENT)
        records.forget_unanswered(["vpn", "no such search"], "aki")
        assert [(one.query, one.count) for one in records.unanswered(None)] == [("vpn", 1), ("請求書の宛名", 1)]
        records.forget_unanswered(["vpn", "請求書の宛名"], None)
        assert records.unanswered(None) == []

    @pytest.mark.req("MT-3")
    def test_a_search_that_is_typed_letter_by_letter_counts_once(self, store: NoteStore) -> None:
        records = records_of(store)
        for seconds, query in enumerate(("inv", "invoice", "invoice address")):
            records.add_unanswered("aki", query, MOMENT + timedelta(seconds=seconds))
        assert [search.query for search in records.unanswered("aki")] == ["invoice address"]

    @pytest.mark.req("MT-3")
    def test_the_oldest_unanswered_searches_of_a_user_go_first(self, store: NoteStore) -> None:
        records = records_of(store)
        for number in range(MAX_UNANSWERED + 3):
            records.add_unanswered("aki", f"{number} nowhere", MOMENT + timedelta(minutes=2 * number))
        kept = {search.query for search in records.unanswered("aki")}
        assert (len(kept), "2 nowhere" in kept, "3 nowhere" in kept) == (MAX_UNANSWERED, False, True)
