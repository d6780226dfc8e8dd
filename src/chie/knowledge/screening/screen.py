"""Screens a note for secrets before it is stored."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from chie.errors import ValidationError
from chie.knowledge.note import Note
from chie.knowledge.screening.secrets import Secret, SecretKind, find_secrets, mask
from chie.knowledge.validation import default_title
from chie.messages.catalogue import Message

SecretPolicy = Literal["refuse", "mask", "allow"]
"""What happens to a text with secrets. Only a person may choose to mask or allow them."""

MAX_LISTED = 10

_TEXTS = ("content", "title", "source", "status")
_LISTS = ("tags", "questions", "signatures")


def screened(note: Note, policy: SecretPolicy = "refuse", *, stored: Note | None = None, first_line: int = 1) -> Note:
    """The note as it may be stored. A value that the `stored` version has already was allowed by a person. Lines are
    counted from `first_line`, where the text begins in its file."""
    if policy == "allow":
        return note
    known = "\n".join(text for _, text in _texts(stored)) if stored else ""
    found = secrets_in(note, known, first_line)
    if not found:
        return note
    if policy == "mask":
        return _masked(note, known)
    raise ValidationError("knowledge.secret_found", findings=found[:MAX_LISTED])


def secrets_in(note: Note, known: str = "", first_line: int = 1) -> list[Message]:
    """Kind and line of each, except for values that the text `known` has."""
    return [
        _described(name, secret, first_line)
        for name, text in _texts(note)
        for secret in find_secrets(text)
        if text[secret.start : secret.end] not in known
    ]


def _texts(note: Note) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        yield name, getattr(note, name) or ""
    for name in _LISTS:
        yield from ((name, text) for text in getattr(note, name))


_KINDS: dict[SecretKind, str] = {
    "private_key": "knowledge.secret_private_key",
    "service_token": "knowledge.secret_service_token",
    "jwt": "knowledge.secret_jwt",
    "url_password": "knowledge.secret_url_password",
    "password": "knowledge.secret_password",
    "token": "knowledge.secret_token",
}


def _described(field: str, secret: Secret, first_line: int) -> Message:
    kind = Message(_KINDS[secret.kind], **({"service": secret.service} if secret.service else {}))
    if field == "content":
        return Message("knowledge.secret_in_line", kind=kind, line=first_line + secret.line - 1)
    return Message("knowledge.secret_in_field", kind=kind, field=field)


def _masked(note: Note, known: str) -> Note:
    """A title that was derived from the content may have the beginning of a secret."""
    derived = note.title == default_title(note.content)
    masked: dict[str, Any] = {name: mask(value, keep=known) for name in _TEXTS if (value := getattr(note, name))}
    for name in _LISTS:
        if values := getattr(note, name):
            masked[name] = [mask(text, keep=known) for text in values]
    note = replace(note, **masked)
    return replace(note, title=default_title(note.content)) if derived else note
