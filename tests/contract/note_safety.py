"""What must hold whenever a process is killed, runs beside another one or finds the disk full: notes, their versions
and their links never disagree. The SQL stores' test modules subclass it, with real processes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from tests.contract.note_store import a_note

from chie.knowledge.history.versions import Version
from chie.knowledge.links.text import folded_title, targets_in
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import ANYBODY

ROOT = Path(__file__).parents[2]
ROUNDS = 8
ALL = 10_000

# The text of a note and of its versions after each step of `tests/knowledge/changer.py`; None while it is deleted.
STATES: list[tuple[int | None, list[int | None]]] = [
    (1, []),
    (2, [1]),
    (3, [1, 2]),
    (None, [1, 2, 3]),
    (3, [1, 2, 3, None]),
    (None, [1, 2, 3, None, 3]),
    (None, []),
]


def changer(environment: Mapping[str, str], *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.knowledge.changer", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | dict(environment),
    )


def number_in(note: Note | None) -> int | None:
    found = re.match(r"text (\d)", note.content) if note else None
    return int(found[1]) if found else None


def state(store: NoteStore, note_id: str) -> tuple[int | None, list[int | None]]:
    versions = reversed(store.versions(note_id, limit=ALL))
    return number_in(store.get(note_id)), [number_in(version.note) for version in versions]


def acknowledged(lines: Sequence[str]) -> dict[str, list[str]]:
    """The last step of each note."""
    return {note: step for note, *step in (line.split() for line in lines if line.endswith("\n"))}


def assert_steps_are_stored(store: NoteStore, steps: Mapping[str, list[str]]) -> None:
    """The last step that was printed has happened, and at most the one after it."""
    for note_id, step in steps.items():
        if step[0] != "renamed":
            assert state(store, note_id) in STATES[int(step[0]) : int(step[0]) + 2], (note_id, step)


def assert_consistent(store: NoteStore) -> None:
    notes = {note.id: note for note in store.walk(after=None, limit=ALL)}
    ids = {row.note for row in store.walk_versions(after=None, limit=ALL)}
    for note_id in ids:
        _assert_versions(store.versions(note_id, limit=ALL)[::-1], exists=note_id in notes)
    stored = {(link.id, target) for link, target in store.link_rows(viewer=ANYBODY, limit=ALL)}
    assert stored == {(note.id, target) for note in notes.values() for target in targets_in(note.content)}
    titles = {folded_title(note.title) for note in notes.values()}
    assert set(store.resolve_links(sorted(titles), viewer=ANYBODY)) == titles
    hubs = [note for note in notes.values() if note.title.startswith("Hub ")]
    for hub in hubs:
        name = hub.title.removeprefix("Hub ").rpartition("-")[0]
        linking = [note for note in notes.values() if note.title.startswith(f"Linking {name}-")]
        assert {note.content.partition(" ")[2] for note in linking} <= {f"[[{hub.title}]]"}


def _assert_versions(versions: Sequence[Version], *, exists: bool) -> None:
    assert [version.number for version in versions] == list(range(1, len(versions) + 1))
    for before, after in pairwise(versions):
        assert before.change.at == after.began_at
        assert (before.change.kind == "deleted") == (after.note is None)
    assert (versions[-1].change.kind == "deleted") == (not exists)


@pytest.mark.req("MT-1", "MT-5")
class NoteSafetyContract:
    """Needs the fixtures `store`, and `environment` with the settings that make a process use the same database."""

    def test_notes_and_versions_agree_after_kills_in_the_middle_of_changes(
        self, store: NoteStore, environment: Mapping[str, str]
    ) -> None:
        steps: dict[str, list[str]] = {}
        for turn in range(ROUNDS):
            with changer(environment, "lives", turn) as process:
                assert process.stdout
                lines = [process.stdout.readline() for _ in range(4 + 3 * turn)]
                os.kill(process.pid, signal.SIGKILL)
                lines += list(process.stdout)
            steps |= acknowledged(lines)
            assert_consistent(store)
        assert len(steps) > ROUNDS
        assert_steps_are_stored(store, steps)

    def test_two_processes_that_change_one_note_lose_no_version(
        self, store: NoteStore, environment: Mapping[str, str]
    ) -> None:
        note, linking = a_note("x", title="Title"), a_note("see [[Title]]")
        for one in (note, linking):
            store.save(one)
        processes = [changer(environment, "same", note.id, 15) for _ in range(2)]
        numbers = []
        for process in processes:
            out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err
            numbers += [int(line.split()[1]) for line in out.splitlines()]
        assert sorted(numbers) == list(range(2, len(numbers) + 2))
        assert store.version_number(note.id) == len(numbers) + 1
        assert_consistent(store)
        found = store.resolve_links(targets_in((store.get(linking.id) or linking).content), viewer=ANYBODY)
        assert [link.id for link in found.values()] == [note.id]
