"""The part of NoteStore's contract that links between notes need. Each SQL store's test module subclasses it."""

from datetime import timedelta

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.note import NoteLink
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer


class NoteLinkContract:
    @pytest.mark.req("MT-5")
    def test_notes_are_found_by_title_but_not_private_ones_of_others(self, store: NoteStore) -> None:
        first = a_note("a", title="nginx の 413")
        second = a_note("b", title="NGINX の 413", created_at=MOMENT + timedelta(days=1))
        hidden = a_note("c", title="nginx の 413", private=True, user_id="aki", created_at=MOMENT - timedelta(days=1))
        for note in (second, first, hidden):
            store.save(note)
        found = [NoteLink(id=one.id, title=one.title) for one in (first, second)]
        assert store.titled(["Nginx の 413", "no such title"], viewer=Viewer("ben")) == found
        assert store.titled(["nginx の 413"], viewer=Viewer("aki"))[0].id == hidden.id

    @pytest.mark.req("MT-5")
    def test_notes_are_found_by_what_they_mention(self, store: NoteStore) -> None:
        first = a_note("see [[Nginx の 413]]")
        second = a_note("see note://k-1", created_at=MOMENT + timedelta(days=1))
        hidden = a_note("see [[nginx の 413]] too", private=True, user_id="aki")
        for note in (first, second, hidden, a_note("nginx の 413")):
            store.save(note)
        texts = ["[[nginx の 413", "note://k-1"]
        assert store.mentioning(texts, viewer=Viewer("ben"), limit=9) == [second, first]
        assert store.mentioning(texts, viewer=Viewer("ben"), limit=1) == [second]
        assert hidden in store.mentioning(texts, viewer=Viewer("aki"), limit=9)
