"""The part of NoteStore's contract on versions, the trash and supersession, for the SQL stores' test modules."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.note_store import MOMENT, ONE_SUITE, TEXT, a_note

from chie.errors import ConflictError
from chie.knowledge.history.versions import Change, ChangeKind
from chie.knowledge.note import ImportedFile, Note
from chie.knowledge.store import sql_store
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.sql_store import EmbeddingModel
from chie.knowledge.viewer import Viewer

AKI, BEN = Viewer("aki"), Viewer("ben")
LONG_AGO = datetime.min.replace(tzinfo=MOMENT.tzinfo)


def on_day(number: int) -> datetime:
    return MOMENT + timedelta(days=number)


def a_change(day: int, by: str = "ben", kind: ChangeKind = "changed") -> Change:
    return Change(kind=kind, by=by, at=on_day(day))


def edited(store: NoteStore, note: Note, day: int, **fields: object) -> Note:
    changed = replace(note, updated_at=on_day(day), **fields)  # type: ignore[arg-type]
    store.save(changed, replacing=note, change=a_change(day))
    return changed


def in_trash(store: NoteStore, viewer: Viewer = AKI) -> list[str]:
    return [version.note_id for version in store.trash(viewer=viewer, after=LONG_AGO, limit=9)]


@pytest.mark.req("MT-1")
class NoteVersionContract:
    def test_every_change_keeps_what_was_there(self, store: NoteStore) -> None:
        first = a_note("接続は 10 本まで", tags=["db"], questions=["何本?"], signatures=["too many"], user_id="aki")
        store.save(first)
        assert store.version_number(first.id) == 1
        second = edited(store, first, 1, content="接続は 20 本まで", source="db.md", supersedes=["k-1"])
        third = edited(store, second, 2, tags=["db", "本番"], private=True)
        assert store.version_number(first.id) == 3
        assert store.get(first.id) == third
        found = store.versions(first.id, limit=9)
        assert [(one.number, one.note) for one in found] == [(2, second), (1, first)]
        assert [(one.began_at, one.change) for one in found] == [
            (on_day(1), a_change(2)),
            (first.created_at, a_change(1)),
        ]
        assert store.versions(first.id, below=2, limit=9) == [found[1]]
        assert store.versions(first.id, limit=1) == [found[0]]

    def test_a_change_by_nobody_in_particular_is_the_authors(self, store: NoteStore) -> None:
        note = a_note(user_id="aki")
        store.save(note)
        store.save(replace(note, content="other"), replacing=note)
        store.delete(note.id)
        assert [one.change.by for one in store.versions(note.id, limit=9)] == ["aki", "aki"]

    def test_dates_and_confirmations_are_no_versions(self, store: NoteStore) -> None:
        note = a_note()
        store.save(note)
        store.save(replace(note, confirmed_by="ben", confirmed_at=on_day(1), updated_at=on_day(1)), replacing=note)
        assert store.version_number(note.id) == 1
        assert store.versions(note.id, limit=9) == []

    def test_a_conflict_makes_no_version(self, store: NoteStore) -> None:
        note = a_note("one")
        store.save(note)
        for replacing in (replace(note, content="zero"), None):
            with pytest.raises(ConflictError):
                store.save(replace(note, content="two"), replacing=replacing)
        assert store.versions(note.id, limit=9) == []

    @given(texts=st.lists(TEXT, min_size=2, max_size=6), long=st.booleans())
    @settings(max_examples=12, deadline=None, suppress_health_check=ONE_SUITE)
    def test_any_text_is_kept(self, store: NoteStore, texts: list[str], *, long: bool) -> None:
        filler = "\n".join(f"行 {number} of a long note" for number in range(800)) if long else ""
        notes = [a_note(f"{filler}{text}{filler}".strip()) for text in texts]
        notes = [replace(note, id=notes[0].id, status=str(number)) for number, note in enumerate(notes)]
        store.save(notes[0])
        for number, (old, new) in enumerate(pairwise(notes)):
            store.save(new, replacing=old, change=a_change(number))
        assert [one.note for one in store.versions(notes[0].id, limit=9)] == notes[-2::-1]

    def test_a_deleted_note_is_in_the_trash(self, store: NoteStore) -> None:
        note = a_note("接続は 10 本まで", user_id="aki")
        store.save(note)
        store.delete(note.id, change=a_change(3, kind="deleted"))
        (found,) = store.trash(viewer=AKI, after=on_day(2), limit=9)
        assert (found.note_id, found.note, found.change) == (note.id, note, a_change(3, kind="deleted"))
        assert store.trash(viewer=AKI, after=on_day(3), limit=9) == []
        assert store.get(note.id) is None
        assert store.delete(note.id) is False

    def test_a_note_comes_back_from_the_trash_with_its_file(self, store: NoteStore) -> None:
        note, other = a_note("one", user_id="aki"), a_note("two")
        file = ImportedFile(vault="docs", path="one.md", fingerprint="5f2c", version=MOMENT)
        for one in (note, other):
            store.save(one)
        store.remember_files({note.id: file})
        store.delete(note.id, change=a_change(1, kind="deleted"))
        assert store.imported_files() == {}
        store.save(note, change=a_change(2, by="aki", kind="restored"))
        assert (store.get(note.id), store.imported_files()) == (note, {note.id: file})
        assert in_trash(store) == []
        assert store.version_number(note.id) == 3
        found = store.versions(note.id, limit=9)
        assert [(one.number, one.note, one.change) for one in found] == [
            (2, None, a_change(2, by="aki", kind="restored")),
            (1, note, a_change(1, kind="deleted")),
        ]
        changed = edited(store, note, 3, content="three")
        store.delete(note.id, change=a_change(4, kind="deleted"))
        assert in_trash(store) == [note.id]
        assert [one.note for one in store.versions(note.id, limit=2)] == [changed, note]

    def test_the_trash_has_private_notes_for_their_author_alone(self, store: NoteStore) -> None:
        hidden, proposed, shared = (
            a_note("hidden", user_id="aki", private=True),
            a_note("proposed", user_id="aki", proposal=True),
            a_note("shared", user_id="aki"),
        )
        for day, note in enumerate((hidden, proposed, shared)):
            store.save(note)
            store.delete(note.id, change=a_change(day, kind="deleted"))
        assert in_trash(store, AKI) == [shared.id, proposed.id, hidden.id]
        assert in_trash(store, BEN) == [shared.id]

    def test_the_trash_is_emptied_by_age(self, store: NoteStore) -> None:
        old, new, alive = a_note("old"), a_note("new"), a_note("alive")
        for day, note in ((1, old), (1, alive), (5, new)):
            store.save(note)
            edited(store, note, 0, status="draft")
            store.delete(note.id, change=a_change(day, kind="deleted"))
        store.save(alive, change=a_change(2, kind="restored"))
        store.purge_deleted(on_day(1))
        assert in_trash(store) == [new.id]
        assert store.versions(old.id, limit=9) == []
        assert len(store.versions(new.id, limit=9)) == 2
        assert len(store.versions(alive.id, limit=9)) == 3

    def test_versions_are_purged_for_good(self, store: NoteStore) -> None:
        note, other = a_note("one"), a_note("other")
        for one in (note, other):
            store.save(one)
            edited(store, one, 1, content="two")
        assert store.purge(note.id, deleted=True) is False
        assert len(store.versions(note.id, limit=9)) == 1
        assert store.purge(note.id, deleted=False) is True
        assert store.purge("k-unknown", deleted=True) is False
        assert store.versions(note.id, limit=9) == []
        assert store.version_number(note.id) == 1
        assert len(store.versions(other.id, limit=9)) == 1

    def test_the_trash_is_not_purged_as_the_history_of_a_note(self, store: NoteStore) -> None:
        note = a_note("one")
        store.save(note)
        edited(store, note, 1, content="two")
        store.delete(note.id)
        assert store.purge(note.id, deleted=False) is False
        assert in_trash(store, Viewer(note.user_id)) == [note.id]
        assert store.purge(note.id, deleted=True) is True
        assert store.versions(note.id, limit=9) == []

    @pytest.mark.parametrize("days", [1, 400])
    def test_an_id_in_the_trash_stays_its_authors(self, store: NoteStore, days: int) -> None:
        note = a_note("one", user_id="aki", private=True)
        store.save(note)
        store.delete(note.id, change=a_change(-days, by="aki", kind="deleted"))
        trashed = store.trashed(note.id)
        assert trashed is not None
        assert trashed.note == note
        taken = replace(note, user_id="ben", content="mine now")
        with pytest.raises(ConflictError):
            store.save(taken, change=a_change(2, by="ben", kind="restored"))
        with pytest.raises(ConflictError):
            store.put_copies([a_note("another"), taken])
        assert (store.get(note.id), store.trashed(note.id), store.count()) == (None, trashed, 0)
        store.put_copies([note])
        assert (store.get(note.id), store.trashed(note.id)) == (note, None)
        store.delete(note.id)
        assert store.purge(note.id, deleted=True)
        store.save(taken)
        assert store.get(note.id) == taken

    def test_versions_of_a_moment(self, store: NoteStore) -> None:
        first, same = a_note("one"), a_note("same")
        for note in (first, same):
            store.save(note)
        second = edited(store, first, 2, content="two")
        store.delete(first.id, change=a_change(4, kind="deleted"))
        store.save(second, change=a_change(6, kind="restored"))

        def at(day: float) -> list[Note | None]:
            return [one.note for one in store.versions_at(MOMENT + timedelta(days=day), limit=9)]

        assert (at(-1), at(0), at(1), at(2), at(3), at(5), at(6)) == (
            [],
            [first],
            [first],
            [second],
            [second],
            [None],
            [],
        )

    def test_versions_are_copied_to_another_store(self, store: NoteStore) -> None:
        notes = [a_note(f"note {number}", id=f"k-{number}") for number in range(3)]
        for note in notes:
            store.save(note)
            changed = edited(store, note, 1, content=f"{note.content}, changed")
            edited(store, changed, 2, status="draft")
        store.delete("k-1")
        rows = list(store.walk_versions(after=None, limit=4))
        rows += store.walk_versions(after=(rows[-1].note, rows[-1].number), limit=9)
        assert [(row.note, row.number) for row in rows] == [
            ("k-0", 1), ("k-0", 2), ("k-1", 1), ("k-1", 2), ("k-1", 3), ("k-2", 1), ("k-2", 2)
        ]  # fmt: skip
        before = {note.id: store.versions(note.id, limit=9) for note in notes}
        for note in notes:
            store.purge(note.id, deleted=store.get(note.id) is None)
            for _ in range(2):
                store.put_versions(note.id, [row for row in rows if row.note == note.id])
        assert {note.id: store.versions(note.id, limit=9) for note in notes} == before

    def test_many_small_changes_take_little_space(self, store: NoteStore) -> None:
        note = a_note("\n".join(f"手順 {number}: restart worker-{number * 7919} and check" for number in range(60)))
        store.save(note)
        for day in range(10):
            note = edited(store, note, day, content=note.content.replace(f"手順 {day}:", f"手順 {day} (確認済み):"))
        sizes = [len(row.body or b"") for row in store.walk_versions(after=None, limit=99)]
        assert sum(sizes) < len(note.content.encode())

    @pytest.mark.req("MT-2")
    def test_earlier_versions_of_long_notes_take_bounded_work(
        self, store: NoteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What a note still says is not embedded again, and of what it said, the passages with words of the query."""
        embedded: list[str] = []
        embed = EmbeddingModel.embed

        def counted(model: EmbeddingModel, texts: Sequence[str]) -> Any:
            embedded.extend(texts)
            return embed(model, texts)

        monkeypatch.setattr(sql_store, "MAX_EMBEDDED", 12)
        notes = [
            a_note(
                "\n\n".join(f"{number} 手順 {part}: restart worker-{part * 7919} and check. " * 9 for part in range(40))
            )
            for number in range(3)
        ]
        for note in notes:
            store.save(note)
        then = [replace(note, content=note.content.replace("手順 30:", "手順 30 zanzibar:")) for note in notes]
        gone = a_note("\n\n".join(f"gone {part}: the disk of worker-{part} is full. " * 9 for part in range(40)))
        monkeypatch.setattr(EmbeddingModel, "embed", counted)
        hits = store.rank_notes("zanzibar", then)
        assert {hit.id for hit in hits} == {note.id for note in notes}
        assert all("zanzibar" in hit.content for hit in hits)
        assert [text for text in embedded if "zanzibar" not in text] == []
        embedded.clear()
        assert store.rank_notes("worker-39", [gone])
        assert len(embedded) == 1 + 12
        assert any("worker-39" in text for text in embedded[1:])

    @pytest.mark.req("MT-2")
    def test_supersession_is_known_from_both_ends(self, store: NoteStore) -> None:
        old, older, new = a_note("old"), a_note("older"), a_note("new")
        for note in (old, older, replace(new, supersedes=[old.id, older.id, old.id, "k-gone"])):
            store.save(note)
        new = store.get(new.id) or new
        assert store.superseding([old.id, older.id, new.id]) == {old.id: [new.id], older.id: [new.id]}
        new = edited(store, new, 1, supersedes=[older.id])
        assert store.superseding([old.id, older.id]) == {older.id: [new.id]}
        store.delete(new.id)
        assert store.superseding([old.id, older.id]) == {}
        store.put_copies([new])
        assert store.superseding([older.id]) == {older.id: [new.id]}


class NoVersionContract:
    """What a store without versions says."""

    def test_it_says_that_it_keeps_no_versions(self, store: NoteStore) -> None:
        note = a_note(supersedes=["k-1"])
        store.save(note)
        changed = replace(note, content="other")
        store.save(changed, replacing=note, change=a_change(1))
        assert store.keeps_versions is False
        assert store.version_number(note.id) is None
        assert store.get(note.id) == changed
        assert (list(store.versions(note.id, limit=9)), store.purge(note.id, deleted=True)) == ([], False)
        store.delete(note.id, change=a_change(2, kind="deleted"))
        store.purge_deleted(on_day(3))
        store.put_versions(note.id, [])
        assert list(store.versions_at(MOMENT, limit=9)) == []
        assert list(store.walk_versions(after=None, limit=9)) == []
        assert in_trash(store) == []
        assert dict(store.superseding(["k-1"])) == {}
