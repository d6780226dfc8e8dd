"""Rules of the service that no MCP client can reach."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes.embedders import HashingEmbedder

from chie.errors import ConflictError, ValidationError
from chie.knowledge.note import Note
from chie.knowledge.service import MAX_UPDATE_ATTEMPTS, KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message


@pytest.fixture
def service(home: Path) -> Iterator[KnowledgeService]:
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    yield KnowledgeService(store)
    store.close()


def test_half_a_surrogate_pair_is_refused(service: KnowledgeService) -> None:
    with pytest.raises(ValidationError, match=r"control character U\+D800"):
        service.save("a\ud800b")


def test_tags_are_kept_once_in_order_and_without_their_hash(service: KnowledgeService) -> None:
    tags = service.save("x", tags=["#Docker", " 網 ", "docker", "", "＃"]).tags
    assert tags == ["Docker", "網", "＃"]


def test_an_update_that_meets_another_starts_again_from_it(service: KnowledgeService) -> None:
    saved = service.save("content", title="title")
    store = service.store
    original, meddled = store.save, list[Message | None]()

    def meddle(note: Note, *, replacing: Note | None = None) -> Message | None:
        if not meddled:
            meddled.append(original(replace(service.get(saved.id), title="theirs"), replacing=service.get(saved.id)))
        return original(note, replacing=replacing)

    store.save = meddle  # type: ignore[method-assign]
    service.update(saved.id, content="mine")
    assert (service.get(saved.id).title, service.get(saved.id).content) == ("theirs", "mine")


def test_an_update_that_always_meets_another_gives_up(service: KnowledgeService) -> None:
    saved = service.save("content")
    tries = []

    def conflict(note: Note, *, replacing: Note | None = None) -> Message | None:
        tries.append((note, replacing))
        raise ConflictError("knowledge.note_changed")

    service.store.save = conflict  # type: ignore[method-assign]
    with pytest.raises(ConflictError):
        service.update(saved.id, title="never")
    assert len(tries) == MAX_UPDATE_ATTEMPTS


def test_keeping_a_note_twice_changes_nothing(service: KnowledgeService) -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    note = Note(id="k-1", title="t", content="c", created_at=moment, updated_at=moment)
    assert service.import_note(note) == "saved"
    assert service.import_note(note) == "unchanged"
    assert service.import_note(replace(note, content="changed")) == "saved"
    assert service.get("k-1").content == "changed"


def test_a_note_that_was_changed_here_later_is_left_alone_unless_told_otherwise(service: KnowledgeService) -> None:
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
