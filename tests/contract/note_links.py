"""The part of NoteStore's contract that links between notes need. Each SQL store's test module subclasses it."""

from dataclasses import replace
from datetime import timedelta
from itertools import groupby

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.errors import ConflictError
from chie.knowledge.history.versions import Change
from chie.knowledge.links.text import folded_title, targets_in
from chie.knowledge.note import Note, NoteLink
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

AKI, BEN = Viewer("aki"), Viewer("ben")


def link_to(note: Note) -> NoteLink:
    return NoteLink(id=note.id, title=note.title)


def changed(store: NoteStore, note: Note, **fields: object) -> Note:
    other = replace(note, **fields)  # type: ignore[arg-type]
    store.save(other, replacing=note, change=Change(by="aki", at=MOMENT))
    return other


def resolved(store: NoteStore, target: str, viewer: Viewer = BEN) -> str | None:
    found = store.resolve_links([target], viewer=viewer).get(target)
    return found.id if found else None


def linking(store: NoteStore, target: str, viewer: Viewer = BEN) -> list[str]:
    return [one.id for one in store.linking([target], viewer=viewer, limit=9)]


@pytest.mark.req("MT-5")
class NoteLinkContract:
    def test_notes_are_found_by_title_but_not_private_ones_of_others(self, store: NoteStore) -> None:
        first = a_note("a", title="nginx  の 413")
        second = a_note("b", title="NGINX の 413", created_at=MOMENT + timedelta(days=1))
        hidden = a_note("c", title="nginx の 413", private=True, user_id="aki", created_at=MOMENT - timedelta(days=1))
        for note in (second, first, hidden):
            store.save(note)
        assert store.titled(["nginx の 413", "no such title"], viewer=BEN) == [link_to(first), link_to(second)]
        assert store.titled(["nginx の 413"], viewer=AKI)[0].id == hidden.id
        assert store.resolve_links(["nginx の 413", "no such title"], viewer=BEN) == {"nginx の 413": link_to(first)}
        assert resolved(store, "nginx の 413", AKI) == hidden.id

    @pytest.mark.parametrize(
        ("title", "linked"),
        [
            ("ガイド", "ｶﾞｲﾄﾞ"),
            ("が行", "か\u3099行"),
            ("re\u0301sume\u0301", "Résumé"),
            ("ＡＰＩ　の鍵", "api の鍵"),
            ("STRASSE", "straße"),
        ],
    )
    def test_titles_and_links_may_be_spelt_in_other_code_points(
        self, store: NoteStore, title: str, linked: str
    ) -> None:
        """As file names from a Mac are, and what a full-width input method writes."""
        note, source = a_note("a", title=title), a_note(f"see [[{linked}]]")
        for one in (note, source):
            store.save(one)
        (target,) = targets_in(source.content)
        assert resolved(store, target) == note.id
        assert linking(store, folded_title(title)) == [source.id]
        changed(store, note, title="another")
        assert resolved(store, target) == note.id

    def test_notes_are_found_by_id_but_not_private_ones_of_others(self, store: NoteStore) -> None:
        shown, hidden = a_note("a"), a_note("b", private=True, user_id="aki")
        for note in (shown, hidden):
            store.save(note)
        targets = [f"note://{shown.id}", f"note://{hidden.id}", "note://k-0", "note://\0"]
        assert store.resolve_links(targets, viewer=BEN) == {targets[0]: link_to(shown)}
        assert set(store.resolve_links(targets, viewer=AKI)) == set(targets[:2])

    def test_links_follow_what_becomes_of_a_note(self, store: NoteStore) -> None:
        note = a_note("see [[Nginx  の 413|this]], note://k-1 and `[[code]]`")
        store.save(note)
        assert linking(store, "nginx の 413") == linking(store, "note://k-1") == [note.id]
        assert linking(store, "code") == []
        note = changed(store, note, content="see [[Other]]")
        assert linking(store, "nginx の 413") == []
        assert linking(store, "other") == [note.id]
        store.delete(note.id)
        assert linking(store, "other") == []
        store.save(note)
        assert linking(store, "other") == [note.id]
        store.put_copies([replace(note, content="see [[nginx の 413]] twice: [[Nginx の 413]]")])
        assert (linking(store, "other"), linking(store, "nginx の 413")) == ([], [note.id])

    def test_private_notes_of_others_do_not_link(self, store: NoteStore) -> None:
        shown = a_note("see [[x]] and note://k-1", created_at=MOMENT + timedelta(days=1))
        hidden = a_note("see [[X]]", private=True, user_id="aki")
        for note in (shown, hidden):
            store.save(note)
        assert store.linking(["x", "note://k-1"], viewer=AKI, limit=9) == [link_to(shown), link_to(hidden)]
        assert store.linking(["x", "note://k-1"], viewer=AKI, limit=1) == [link_to(shown)]
        assert linking(store, "x") == [shown.id]
        assert store.link_rows(viewer=BEN, limit=9) == [(link_to(shown), "note://k-1"), (link_to(shown), "x")]
        assert store.link_rows(viewer=AKI, limit=9)[-1] == (link_to(hidden), "x")

    def test_a_former_title_leads_to_the_note_until_another_has_it(self, store: NoteStore) -> None:
        note = a_note("a", title="古い題")
        store.save(note)
        note = changed(store, note, title="New")
        note = changed(store, note, content="b")
        assert store.resolve_links(["古い題", "new"], viewer=BEN) == {"古い題": link_to(note), "new": link_to(note)}
        assert store.former_titles(note.id, viewer=BEN) == ["古い題"]
        other = a_note("c", title="古い題", created_at=MOMENT + timedelta(days=1))
        store.save(other)
        assert resolved(store, "古い題") == other.id
        store.delete(other.id)
        assert resolved(store, "古い題") == note.id
        store.purge(note.id, deleted=False)
        assert resolved(store, "古い題") is None

    def test_a_former_title_is_known_to_those_who_could_read_it(self, store: NoteStore) -> None:
        store.spaces.save(Space(name="infra", title="Infra"))
        note = a_note("a", title="Public", user_id="aki")
        store.save(note)
        note = changed(store, note, private=True)
        note = changed(store, note, title="Private")
        note = changed(store, note, title="In infra", private=False, space="infra")
        note = changed(store, note, title="Now", space="team")
        inside = Viewer("ben", frozenset({"team", "infra"}))
        found = {viewer: [resolved(store, title, viewer) for title in ("public", "private", "in infra")]
                 for viewer in (AKI, BEN, inside)}  # fmt: skip
        assert found == {AKI: [note.id, note.id, None], BEN: [note.id, None, None], inside: [note.id, None, note.id]}
        assert store.former_titles(note.id, viewer=BEN) == ["public"]
        assert store.former_titles(note.id, viewer=inside) == ["in infra", "public"]

    def test_a_copy_of_the_versions_keeps_former_titles(self, store: NoteStore) -> None:
        note = a_note("a", title="Old")
        store.save(note)
        changed(store, note, title="New")
        rows = store.walk_versions(after=None, limit=9)
        store.purge(note.id, deleted=False)
        for note_id, of_note in groupby(rows, key=lambda row: row.note):
            store.put_versions(note_id, list(of_note))
        assert resolved(store, "old") == note.id

    def test_several_notes_are_replaced_together_or_not_at_all(self, store: NoteStore) -> None:
        first, second = a_note("a [[x]]", id="k-2"), a_note("b [[x]]", id="k-1")
        for note in (first, second):
            store.save(note)
        pairs = [(note, replace(note, content=note.content.replace("x", "y"))) for note in (first, second)]
        change = Change(by="ben", at=MOMENT)
        stale = [pairs[0], (replace(second, title="stale"), pairs[1][1])]
        for wrong in (stale, stale[::-1]):
            with pytest.raises(ConflictError):
                store.replace_all(wrong, change=change)
        assert [store.get(note.id) for note in (first, second)] == [first, second]
        assert [store.versions(note.id, limit=9) for note in (first, second)] == [[], []]
        assert linking(store, "y") == []
        assert store.replace_all(pairs, change=change) is None
        assert [store.get(note.id) for note in (first, second)] == [after for _, after in pairs]
        for note in (first, second):
            (version,) = store.versions(note.id, limit=9)
            assert (version.note, version.change) == (note, change)
        assert sorted(linking(store, "y")) == ["k-1", "k-2"]

    def test_a_note_is_deleted_together_with_changes_or_not_at_all(self, store: NoteStore) -> None:
        kept, absorbed = a_note("a", id="k-2"), a_note("b", id="k-1", title="Absorbed")
        for note in (kept, absorbed):
            store.save(note)
        change, pair = Change(by="ben", at=MOMENT), (kept, replace(kept, content="a and b"))
        stale = replace(kept, title="stale")
        for replacement, deleted in ((pair, replace(absorbed, title="stale")), ((stale, pair[1]), absorbed)):
            with pytest.raises(ConflictError):
                store.replace_all([replacement], change=change, deleting=[deleted])
        assert [store.get(note.id) for note in (kept, absorbed)] == [kept, absorbed]
        assert store.replace_all([pair], change=change, deleting=[absorbed]) is None
        assert [store.get(note.id) for note in (kept, absorbed)] == [pair[1], None]
        (version,) = store.versions(absorbed.id, limit=9)
        assert (version.note, version.change) == (absorbed, replace(change, kind="deleted"))
        assert resolved(store, "absorbed") is None
        assert [hit.id for hit in store.search("b", limit=9).hits] == [kept.id]
