"""The part of NoteStore's contract that anchors to code need. Each SQL store's test module subclasses it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

REPOSITORY = "github.com/org/repo"
ANCHOR = Anchor(repository=REPOSITORY, path="src/設定.py", lines="10-20", commit="a" * 40, fingerprint="f" * 64)


def a_report(state: Any = "changed", *, days: int = 0, **fields: Any) -> AnchorReport:
    values: dict[str, Any] = {
        "detail": "edited",
        "changed": 0.4,
        "path": ANCHOR.path,
        "lines": "12-22",
        "commit": "b" * 40,
        "committed_at": MOMENT + timedelta(days=days),
        "reported_by": "ben",
        "reported_at": MOMENT,
    }
    return AnchorReport(state=state, **(values | fields))


class AnchorRoundTripContract:
    """What every store can do."""

    @pytest.mark.req("MT-4")
    def test_an_anchor_round_trips_and_is_on_hits(self, store: NoteStore) -> None:
        note = a_note("client_max_body_size must be raised", anchor=ANCHOR)
        store.save(note)
        assert store.get(note.id) == note
        assert store.search("client_max_body_size must be raised", limit=1).hits[0].anchor == ANCHOR
        whole_file = replace(note, anchor=Anchor(repository=REPOSITORY, path="a.py"))
        store.save(whole_file, replacing=note)
        assert store.get(note.id) == whole_file
        plain = replace(note, anchor=None)
        store.save(plain, replacing=whole_file)
        assert store.get(note.id) == plain


class NoteAnchorContract(AnchorRoundTripContract):
    """What the SQL stores can do."""

    @pytest.mark.req("MT-4")
    def test_notes_of_a_repository_are_found_page_by_page_but_not_private_ones(self, store: NoteStore) -> None:
        mine = [a_note(f"note {number}", anchor=ANCHOR) for number in range(3)]
        hidden = a_note("hidden", anchor=ANCHOR, private=True, user_id="aki")
        other = a_note("other", anchor=replace(ANCHOR, repository="github.com/org/other"))
        for note in (*mine, hidden, other, a_note("plain")):
            store.save(note)
        ids = sorted(note.id for note in mine)
        assert [note.id for note in store.anchored(REPOSITORY, viewer=Viewer("ben"), limit=9)] == ids
        assert [note.id for note in store.anchored(REPOSITORY, viewer=Viewer("ben"), limit=2)] == ids[:2]
        assert [note.id for note in store.anchored(REPOSITORY, viewer=Viewer("ben"), limit=2, after=ids[1])] == ids[2:]
        assert hidden in store.anchored(REPOSITORY, viewer=Viewer("aki"), limit=9)

    @pytest.mark.req("MT-4")
    def test_a_report_counts_as_long_as_the_anchor_is_the_same(self, store: NoteStore) -> None:
        note, report = a_note("note", anchor=ANCHOR), a_report()
        store.save(note)
        store.report_anchors({note.id: (ANCHOR, report), "k-unknown": (ANCHOR, report)})
        assert store.anchor_reports([note.id, "k-unknown"]) == store.anchor_reports() == {note.id: report}
        edited = replace(note, content="edited")
        store.save(edited, replacing=note)
        assert store.anchor_reports([note.id]) == {note.id: report}
        moved = replace(edited, anchor=replace(ANCHOR, commit="c" * 40))
        store.save(moved, replacing=edited)
        assert store.anchor_reports([note.id]) == {}
        store.report_anchors({note.id: (ANCHOR, report)})
        assert store.anchor_reports([note.id]) == {}

    @pytest.mark.req("MT-4")
    def test_a_report_on_an_earlier_commit_does_not_replace_a_later_one(self, store: NoteStore) -> None:
        note = a_note("note", anchor=ANCHOR)
        store.save(note)
        later, earlier, again = a_report("gone", days=2), a_report("fresh", days=1), a_report("fresh", days=2)
        store.report_anchors({note.id: (ANCHOR, later)})
        store.report_anchors({note.id: (ANCHOR, earlier)})
        assert store.anchor_reports([note.id]) == {note.id: later}
        store.report_anchors({note.id: (ANCHOR, again)})
        assert store.anchor_reports([note.id]) == {note.id: again}

    @pytest.mark.req("MT-4")
    def test_notes_whose_code_has_changed_are_listed_for_those_who_may_see_them(self, store: NoteStore) -> None:
        fresh, old, new = (a_note(name, anchor=ANCHOR) for name in ("fresh", "old", "new"))
        hidden = a_note("hidden", anchor=ANCHOR, private=True, user_id="aki")
        for note in (fresh, old, new, hidden):
            store.save(note)
        reports = {
            fresh.id: (ANCHOR, a_report("fresh")),
            old.id: (ANCHOR, a_report("gone")),
            new.id: (ANCHOR, a_report(days=1)),
            hidden.id: (ANCHOR, a_report(days=2)),
        }
        store.report_anchors(reports)
        assert store.changed_anchors(viewer=Viewer("ben"), limit=9) == [
            (new, reports[new.id][1]),
            (old, reports[old.id][1]),
        ]
        assert [note for note, _ in store.changed_anchors(viewer=Viewer("aki"), limit=1)] == [hidden]

    @pytest.mark.req("MT-4")
    def test_a_deleted_note_has_no_report(self, store: NoteStore) -> None:
        note = a_note("note", anchor=ANCHOR)
        store.save(note)
        store.report_anchors({note.id: (ANCHOR, a_report())})
        assert store.delete(note.id)
        store.save(note)
        assert store.anchor_reports() == {}
