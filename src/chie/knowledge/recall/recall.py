"""Finds the notes that help with a prompt, a failed command or a file, for the tiers of `evidence.py`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chie.knowledge.history.supersession import newer_notes
from chie.knowledge.note import Note
from chie.knowledge.recall import signatures
from chie.knowledge.recall.evidence import Evidence, Tier, shared_words
from chie.knowledge.screening.injection import is_flagged
from chie.knowledge.search.passages import excerpt, split
from chie.knowledge.search.tokens import query_tokens
from chie.knowledge.sources import file_name, names_file
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

Policy = Literal["confirmed", "own", "all"]

MAX_CANDIDATES = 10
MAX_SIGNATURES = 20_000  # compared with a failure, those of the newest notes
MAX_PASSAGES = 2
MAX_HINTS = 3
MAX_QUERY = 1_500  # characters of a prompt or an error that describe it
MIN_QUERY_WORDS = 2


@dataclass(frozen=True)
class Recalled:
    """A note and what to show of it: `text` for a passage, None for a hint."""

    note: Note
    text: str | None = None


class Recall:
    """Never returns a note that the viewer does not see, or one that `policy` does not let a hook push."""

    def __init__(self, store: NoteStore, policy: Policy = "confirmed") -> None:
        self._store = store
        self._policy = policy

    def for_prompt(self, prompt: str, viewer: Viewer, *, without: set[str]) -> list[Recalled]:
        return self._similar(_query(prompt), viewer, without)

    def for_failure(self, command: str, error: str, viewer: Viewer, *, without: set[str]) -> list[Recalled]:
        """Notes that know this very error, or hints to notes on something like it."""
        stored = self._store.signatures(viewer=viewer, limit=MAX_SIGNATURES)
        same = list(signatures.recognised(stored, error))
        known = self._store.by_signature(same, viewer=viewer, limit=MAX_CANDIDATES) if same else ()
        if sure := self._pushable(known, viewer, without)[:MAX_PASSAGES]:
            return [Recalled(note, _beginning(note)) for note in sure]
        similar = self._similar(_query(f"{command[:200]}\n{error}"), viewer, without)
        return [Recalled(recalled.note) for recalled in similar]

    def for_file(
        self, path: str, folder: str, viewer: Viewer, repository: str = "", *, without: set[str]
    ) -> list[Recalled]:
        """Notes whose source or anchor is this file. An anchor in another repository than that of the session, if it is
        known, is another file."""
        name = file_name(path)
        found = self._store.by_source_file(name, viewer=viewer, limit=50) if name else ()
        notes = [note for note in self._pushable(found, viewer, without) if _is_about(note, path, folder, repository)]
        passages = [Recalled(note, _beginning(note)) for note in notes[:MAX_PASSAGES]]
        return passages + [Recalled(note) for note in notes[MAX_PASSAGES:][:MAX_HINTS]]

    def _similar(self, text: str, viewer: Viewer, without: set[str]) -> list[Recalled]:
        if len(query_tokens(text)) < MIN_QUERY_WORDS:
            return []
        found = {hit.id: hit for hit in self._store.search(text, limit=MAX_CANDIDATES, viewer=viewer).hits}
        notes = [note for note_id in found if (note := self._store.get(note_id))]
        candidates = self._pushable(notes, viewer, without)
        similarities = self._store.similarities(text, candidates)
        evidence = [
            Evidence(note, similarities[note.id], shared_words(text, note))
            for note in candidates
            if note.id in similarities
        ]
        tiers: dict[Tier | None, list[Note]] = {"passage": [], "hint": [], None: []}
        number = self._store.count(viewer=viewer)
        for one in sorted(evidence, key=lambda one: -one.rank):
            tiers[one.tier(number)].append(one.note)
        if sure := tiers["passage"][:MAX_PASSAGES]:  # makes the plausible ones unnecessary
            return [Recalled(note, found[note.id].content) for note in sure]
        return [Recalled(note) for note in tiers["hint"][:MAX_HINTS]]

    def _pushable(self, notes: Iterable[Note], viewer: Viewer, without: set[str]) -> list[Note]:
        chosen = [note for note in notes if note.id not in without and self._may_push(note, viewer)]
        newer = newer_notes(self._store, viewer, [note.id for note in chosen])
        return [note for note in chosen if note.id not in newer]

    def _may_push(self, note: Note, viewer: Viewer) -> bool:
        if note.proposal or not viewer.sees(note):
            return False
        if note.confirmed_by is None and is_flagged(note):
            return False
        if note.user_id == viewer.user or self._policy == "all":
            return True
        return self._policy == "confirmed" and note.confirmed_by is not None


def _query(text: str) -> str:
    """The beginning says what is wanted, and the end of a long output what went wrong."""
    text = text.strip()
    half = MAX_QUERY // 2
    return text if len(text) <= MAX_QUERY else f"{text[:half]}\n{text[-half:]}"


def _is_about(note: Note, path: str, folder: str, repository: str) -> bool:
    if note.anchor is None:
        return names_file(note.source or "", path, folder)
    return repository in ("", note.anchor.repository) and names_file(note.anchor.path, path, folder)


def _beginning(note: Note) -> str:
    first = split(note)[0]
    return excerpt(note.content, first.start, first.end)
