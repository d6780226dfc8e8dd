"""The part of NoteStore's contract that recall needs. Each SQL store's test module subclasses it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.scoring import ELLIPSIS
from chie.knowledge.viewer import Viewer

NAMES = ("alarm", "backup", "certificate", "deployment")
LONG = "# Runbook\n\n" + "\n\n".join(f"Section {number} says how step {number} is done. " * 8 for number in range(9))


class ProposalContract:
    """What every store can do."""

    def test_the_fields_of_recall_round_trip(self, store: NoteStore) -> None:
        note = a_note(
            questions=["なぜ 413 になる?", "Why 413?"],
            signatures=["<n> Request Entity Too Large"],
            origin="hook",
            proposal=True,
            confirmed_by="ben",
            confirmed_at=MOMENT,
            supersedes=["k-1", "k-2"],
        )
        store.save(note)
        assert store.get(note.id) == note
        changed = replace(note, questions=[], signatures=[], proposal=False, confirmed_by=None, confirmed_at=None)
        store.save(changed, replacing=note)
        assert store.get(note.id) == changed

    @pytest.mark.req("ME-7")
    def test_proposals_wait_for_everybody_unless_they_are_private(self, store: NoteStore) -> None:
        first = a_note("first", user_id="aki", proposal=True)
        second = a_note("second", user_id="aki", proposal=True, private=True, created_at=MOMENT + timedelta(minutes=1))
        for note in (second, first, a_note("third")):
            store.save(note)
        assert store.proposals(viewer=Viewer("ben"), limit=9) == [first]
        assert store.proposals(viewer=Viewer("aki"), limit=9) == [first, second]
        assert store.proposals(viewer=Viewer("aki"), limit=1) == [first]
        assert [note.proposal for note in store.browse(tag=None, limit=9, cursor=None).notes] == [False]
        assert (store.count_proposals(viewer=Viewer("aki")), store.count_proposals(viewer=Viewer("ben"))) == (2, 1)

    @pytest.mark.req("ME-4")
    def test_what_a_session_was_shown_is_remembered_for_a_while(self, store: NoteStore) -> None:
        def remember(session: str, *notes: str, days: int) -> None:
            at = MOMENT + timedelta(days=days)
            store.remember_shown(session, notes, at=at, forget_before=at - timedelta(days=7))

        remember("a", "k-1", "k-2", days=0)
        remember("a", "k-2", "k-3", days=6)
        remember("b", "k-9", days=6)
        assert (store.shown("a"), store.shown("b"), store.shown("c")) == ({"k-1", "k-2", "k-3"}, {"k-9"}, set())
        remember("b", days=8)
        assert store.shown("a") == {"k-3"}


class NoteRecallContract(ProposalContract):
    """What the SQL stores can do."""

    @pytest.mark.req("ME-9")
    def test_a_question_finds_the_note_and_the_hit_shows_its_text(self, store: NoteStore) -> None:
        note = a_note("client_max_body_size must be raised", questions=["uploads of pictures are refused by the proxy"])
        other = a_note("redis evicts sessions when memory is short")
        long = a_note(LONG, title="Runbook", questions=["the pager rings at night"])
        for one in (note, other, long):
            store.save(one)
        hit = store.search("uploads of pictures are refused by the proxy", limit=3).hits[0]
        assert (hit.id, hit.content, hit.question) == (note.id, note.content, note.questions[0])
        hit = store.search("the pager rings at night", limit=3).hits[0]
        assert (hit.id, hit.question) == (long.id, "the pager rings at night")
        assert all(part in long.content for part in hit.content.split(ELLIPSIS))
        assert "pager" not in hit.content
        assert store.search("client_max_body_size must be raised", limit=1).hits[0].question is None

    @pytest.mark.req("ME-9", "SE-1")
    def test_a_question_shows_the_part_of_a_long_note_that_answers_it(self, store: NoteStore) -> None:
        """Though parts of many other notes are nearer to the query than the part that is shown."""
        answer = "Section 99: renew the certificate of the gateway by hand. " * 8
        long = a_note(f"{LONG}\n\n{answer}", title="Runbook", questions=["certificate of the gateway ran out at night"])
        store.save(long)
        for number in range(60):
            store.save(a_note(f"certificate of the gateway ran out on day {number}", title=f"Day {number}"))
        hit = store.search("certificate of the gateway ran out at night", limit=2).hits[0]
        assert (hit.id, hit.question) == (long.id, long.questions[0])
        assert "Section 99" in hit.content

    @pytest.mark.req("SE-1")
    def test_words_that_few_passages_of_a_note_have_tell_which_one_is_shown(self, store: NoteStore) -> None:
        sections = [f"Section {name}: the service restarts the service after the {name}. " * 12 for name in NAMES]
        long = a_note("\n\n".join(sections), title="Service")
        store.save(long)
        for name in NAMES:
            hit = store.search(f"what does the service do after the {name}", limit=1).hits[0]
            assert f"Section {name}" in hit.content
            assert hit.partial

    @pytest.mark.req("SE-1")
    def test_two_passages_that_answer_equally_well_are_both_shown(self, store: NoteStore) -> None:
        same = "The gateway drops the connection. " * 20
        long = a_note(f"{same}\n\n{LONG}\n\n{same}", title="Gateway")
        store.save(long)
        first, second = store.search("connection that the gateway drops", limit=1).hits[0].content.split(ELLIPSIS)
        assert "drops the connection" in first
        assert "drops the connection" in second

    @pytest.mark.req("ME-9")
    def test_similarities_tell_text_and_question_apart(self, store: NoteStore) -> None:
        note = a_note("alpha beta gamma", title="alpha beta gamma", questions=["delta epsilon zeta"])
        plain = a_note("eta theta", title="eta theta")
        for one in (note, plain):
            store.save(one)
        found = store.similarities("delta epsilon zeta", [note, plain])
        assert (found[note.id].question or 0) > 0.99 > found[note.id].text
        assert found[plain.id].question is None
        assert store.similarities("x", []) == {}

    @pytest.mark.req("ME-7")
    def test_a_proposal_is_found_by_its_author_only(self, store: NoteStore) -> None:
        note = a_note(
            "the zanzibar finding", user_id="aki", tags=["secret"], proposal=True, signatures=["s"], source="a/b.py"
        )
        store.save(note)
        assert [hit.id for hit in store.search("zanzibar finding", limit=3, viewer=Viewer("aki")).hits] == [note.id]
        assert store.search("zanzibar finding", limit=3, viewer=Viewer("ben")).hits == []
        assert store.browse(tag=None, limit=3, cursor=None, viewer=Viewer("ben")).notes == []
        assert store.tags(viewer=Viewer("ben")) == []
        assert (store.count(viewer=Viewer("aki")), store.count(viewer=Viewer("ben"))) == (1, 0)
        assert store.by_signature(["s"], viewer=Viewer("ben"), limit=3) == []
        assert store.by_source_file("b.py", viewer=Viewer("ben"), limit=3) == []
        assert store.count_sources("a/b", viewer=Viewer("ben")) == 0
        store.save(replace(note, proposal=False), replacing=note)
        assert [hit.id for hit in store.search("zanzibar finding", limit=3, viewer=Viewer("ben")).hits] == [note.id]
        assert store.count(viewer=Viewer("ben")) == 1

    @pytest.mark.req("ME-3")
    def test_notes_are_looked_up_by_signature(self, store: NoteStore) -> None:
        one = a_note("one", signatures=["x failed", "y failed"])
        two = a_note("two", signatures=["y failed"], created_at=MOMENT + timedelta(minutes=1))
        hidden = a_note("three", signatures=["y failed"], private=True, user_id="aki")
        for note in (one, two, hidden):
            store.save(note)
        assert store.by_signature(["y failed", "z"], viewer=Viewer("ben"), limit=9) == [two, one]
        assert sorted(store.signatures(viewer=Viewer("ben"), limit=9)) == ["x failed", "y failed"]
        assert store.signatures(viewer=Viewer("ben"), limit=1) == ["y failed"]
        assert store.by_signature(["y failed"], viewer=Viewer("ben"), limit=1) == [two]
        assert store.by_signature(["y"], viewer=Viewer("ben"), limit=9) == []
        assert store.by_signature([], viewer=Viewer("ben"), limit=9) == []
        store.save(replace(one, signatures=[]), replacing=one)
        store.delete(two.id)
        assert store.by_signature(["x failed", "y failed"], viewer=Viewer("ben"), limit=9) == []

    def test_notes_are_looked_up_by_source(self, store: NoteStore) -> None:
        one = a_note("one", source="https://git.example/Acme/shop/blob/main/src/Pool.py#L3")
        two = a_note("two", source="src/pool.pyc")
        for note in (one, two, a_note("three")):
            store.save(note)
        assert store.by_source_file("pool.py", viewer=Viewer("ben"), limit=9) == [one]
        assert store.count_sources("acme/SHOP", viewer=Viewer("ben")) == 1
        assert store.count_sources("%", viewer=Viewer("ben")) == 0
