"""What a store keeps beside notes. Each store's test module subclasses it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.records import Decision, NoteState, RecordedSearch
from chie.knowledge.store.base import NoteStore


class NoteRecordsContract:
    @pytest.mark.req("ME-7")
    def test_the_last_decision_on_a_proposal_is_kept_for_a_while(self, store: NoteStore) -> None:
        records = store.records
        proposal = NoteState.of(a_note("両方", proposal=True, confirmed_at=MOMENT), 1)
        first = Decision(proposal=proposal, by="ben", at=MOMENT)
        merged, before = NoteState.of(a_note("merged"), 3), NoteState.of(a_note("before"), 2)
        second = replace(first, result=merged, target=before, at=MOMENT + timedelta(hours=1))
        for decision in (first, second):
            records.remember_decision(decision, forget_before=MOMENT)
            assert records.decision(proposal.id) == decision
        other = replace(first, proposal=NoteState.of(a_note("other"), 1), at=MOMENT + timedelta(days=2))
        records.remember_decision(other, forget_before=MOMENT + timedelta(days=1))
        assert (records.decision(proposal.id), records.decision(other.proposal.id)) == (None, other)
        records.forget_decision(other.proposal.id)
        assert records.decision(other.proposal.id) is None

    @pytest.mark.req("MT-7")
    def test_uses_add_up_and_outlive_a_change_of_the_note(self, store: NoteStore) -> None:
        note = a_note("counted")
        store.save(note)
        store.records.add_uses({(note.id, "shown"): 2, (note.id, "opened"): 1, ("k-other", "shown"): 5})
        store.records.add_uses({(note.id, "shown"): 3})
        store.save(replace(note, content="changed"), replacing=note)
        assert store.records.uses(note.id) == {"shown": 5, "opened": 1}
        assert store.records.uses("k-unknown") == {}

    @pytest.mark.req("MT-7")
    def test_each_user_has_one_mark_per_note(self, store: NoteStore) -> None:
        records = store.records
        records.mark("k-1", "aki", "helpful")
        records.mark("k-1", "ben", "helpful")
        records.mark("k-1", "ben", "wrong")
        assert records.marks("k-1") == {"aki": "helpful", "ben": "wrong"}
        records.mark("k-1", "aki", None)
        assert (records.marks("k-1"), records.marks("k-2")) == ({"ben": "wrong"}, {})

    @pytest.mark.req("MT-7")
    def test_marks_agreements_and_decisions_at_once(self, store: NoteStore) -> None:
        decision = Decision(proposal=NoteState.of(a_note("両方"), 1), by="ben", at=MOMENT)

        def work(number: int) -> None:
            store.records.remember_decision(decision, forget_before=MOMENT)
            store.records.mark("k-1", "aki", "helpful" if number % 2 else "wrong")
            store.records.agree("aki", recording=True)
            if number % 5 == 0:
                store.records.mark("k-1", "aki", None)
                store.records.agree("aki", recording=False)

        with ThreadPoolExecutor(4) as pool:
            assert len(list(pool.map(work, range(60)))) == 60

    @pytest.mark.req("MT-8")
    def test_searches_belong_to_the_user_who_agreed(self, store: NoteStore) -> None:
        records = store.records
        assert not records.records_searches("aki")
        records.agree("aki", recording=True)
        records.agree("aki", recording=True)
        assert (records.records_searches("aki"), records.records_searches("ben")) == (True, False)
        first = RecordedSearch(query="接続エラー", note="k-1", at=MOMENT)
        second = RecordedSearch(query="connection error", note="k-1", at=MOMENT + timedelta(minutes=1))
        again = replace(first, at=MOMENT + timedelta(minutes=2))
        for search in (first, second, again):
            records.record_search("aki", search)
        assert records.searches("aki") == [again, second]
        assert records.searches("ben") == []
        records.agree("aki", recording=False)
        assert (records.records_searches("aki"), records.searches("aki")) == (False, [])
