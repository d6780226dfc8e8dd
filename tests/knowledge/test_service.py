"""Behaviour of the service that MCP clients cannot reach."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes.embedders import HashingEmbedder

from chie.errors import ConflictError, ValidationError
from chie.knowledge.history.versions import Change
from chie.knowledge.note import Note
from chie.knowledge.service import MAX_UPDATE_ATTEMPTS, KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message


@pytest.fixture
def service(home: Path) -> Iterator[KnowledgeService]:
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    yield KnowledgeService(store)
    store.close()


def test_lone_surrogate_is_rejected(service: KnowledgeService) -> None:
    with pytest.raises(ValidationError, match=r"control character U\+D800"):
        service.save("a\ud800b")


def test_tags_are_deduplicated_in_order(service: KnowledgeService) -> None:
    tags = service.save("x", tags=["#Docker", " 網 ", "docker", "", "＃"]).tags
    assert tags == ["Docker", "網", "＃"]


def test_update_retries_after_a_conflict(service: KnowledgeService) -> None:
    saved = service.save("content", title="title")
    store = service.store
    original, interfered = store.save, list[Message | None]()

    def interfere(note: Note, *, replacing: Note | None = None, change: Change | None = None) -> Message | None:
        if not interfered:
            interfered.append(original(replace(service.get(saved.id), title="theirs"), replacing=service.get(saved.id)))
        return original(note, replacing=replacing, change=change)

    store.save = interfere  # type: ignore[method-assign]
    service.update(saved.id, content="mine")
    assert (service.get(saved.id).title, service.get(saved.id).content) == ("theirs", "mine")


def test_update_gives_up_after_repeated_conflicts(service: KnowledgeService) -> None:
    saved = service.save("content")
    tries = []

    def conflict(note: Note, *, replacing: Note | None = None, change: Change | None = None) -> Message | None:
        tries.append((note, replacing, change))
        raise ConflictError("knowledge.note_changed")

    service.store.save = conflict  # type: ignore[method-assign]
    with pytest.raises(ConflictError):
        service.update(saved.id, title="never")
    assert len(tries) == MAX_UPDATE_ATTEMPTS


def test_importing_a_note_twice_changes_nothing(service: KnowledgeService) -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    note = Note(id="k-1", title="t", content="c", created_at=moment, updated_at=moment)
    assert service.import_note(note) == "saved"
    assert service.import_note(note) == "unchanged"
    assert service.import_note(replace(note, content="changed")) == "saved"
    assert service.get("k-1").content == "changed"


def test_newer_note_is_kept_unless_overwritten(service: KnowledgeService) -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    note = Note(id="k-1", title="t", content="手順", created_at=moment, updated_at=moment)
    service.import_note(note)
    service.update("k-1", content="手順と補足")
    assert service.import_note(note) == "newer"
    other_day = datetime(2019, 1, 1, tzinfo=UTC)
    assert service.import_note(replace(note, content="手順と補足", created_at=other_day)) == "unchanged"
    assert service.get("k-1").content == "手順と補足"
    assert service.import_note(note, overwrite=True) == "saved"
    assert service.get("k-1") == note
