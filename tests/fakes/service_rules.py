"""A service on a store without a model, and what its rules are tested with."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.embedders import HashingEmbedder

from chie.access.identity import User
from chie.errors import ChieError
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message

START = datetime(2026, 4, 1, tzinfo=UTC)
YUKI, KEN, ADMIN = User("yuki"), User("ken"), User("ops", admin=True)
NOT_FOUND = Message("knowledge.note_not_found")
THEIRS = Message("knowledge.note_forbidden", author="yuki")


@pytest.fixture
def service(home: Path) -> Iterator[KnowledgeService]:
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    moments = (START + timedelta(minutes=minute) for minute in range(1000))
    yield KnowledgeService(store, clock=lambda: next(moments))
    store.close()


def audit(home: Path) -> list[tuple[str, str, str]]:
    lines = map(json.loads, (home / "audit.log").read_text(encoding="utf-8").splitlines())
    return [(line["user"], line["kind"], line["id"]) for line in lines]


def error_of(kind: type[ChieError], do: Callable[[], object]) -> Message:
    with pytest.raises(kind) as caught:
        do()
    return caught.value.reason


def not_plain(field: str) -> Message:
    return Message("knowledge.field_not_plain_text", field=field)


def too_long(field: str, limit: int) -> Message:
    return Message("knowledge.field_too_long", field=field, limit=limit)


def a_note(**fields: Any) -> Note:
    base = Note(id="k-1", title="t", content="c", user_id="yuki", created_at=START, updated_at=START)
    return replace(base, **fields)
