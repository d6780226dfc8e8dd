"""Screens notes that are stored already: saved before Chie screened them, or allowed by somebody."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chie.knowledge.note import Note
from chie.knowledge.screening.injection import Flag, flags_of
from chie.knowledge.screening.screen import secrets_in
from chie.messages.catalogue import Message


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """What a note seems to have, by kind and line, never by value."""

    note: Note
    secrets: list[Message] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)


def scan(notes: Iterable[Note]) -> Iterator[Suspicion]:
    """Notes that seem to have secrets, or text that addresses a model."""
    for note in notes:
        found = Suspicion(note=note, secrets=secrets_in(note), flags=flags_of(note))
        if found.secrets or found.flags:
            yield found
