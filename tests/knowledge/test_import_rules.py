"""What the service checks in imported and restored notes."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.service_rules import ADMIN, KEN, NOT_FOUND, YUKI, a_note, audit, error_of, not_plain, service, too_long

from chie.access.identity import UNAUTHENTICATED, acting_as
from chie.errors import AuthenticationError, ConflictError, NotFoundError, ValidationError
from chie.knowledge.api import create_api
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import (
    MAX_ID,
    MAX_TAG,
    RESERVED_IDS,
)
from chie.messages.catalogue import Message

__all__ = ["service"]


def test_imported_note_is_validated(service: KnowledgeService, home: Path) -> None:
    note = a_note(id=" k-1 ", content=" c ", title="", tags=["#a", "A"], source=" s ", status=" draft ", private=True)
    with acting_as(YUKI):
        assert service.import_note(note) == "saved"
        kept = service.get("k-1")
        assert kept == a_note(title="c", tags=["a"], source="s", status="draft", private=True)
        assert service.import_note(kept) == "unchanged"
    assert audit(home) == [("yuki", "note.imported", "k-1")]


def test_identical_note_of_another_user_is_unchanged(service: KnowledgeService) -> None:
    with acting_as(YUKI):
        service.import_note(a_note())
    with acting_as(KEN):
        assert service.import_note(a_note()) == "unchanged"


def test_importing_user_becomes_the_author(service: KnowledgeService) -> None:
    with acting_as(KEN):
        service.import_note(a_note(user_id="yuki"))
        assert service.get("k-1").user_id == "ken"
        service.import_note(a_note(user_id="yuki", content="new"))
        assert (service.get("k-1").user_id, service.get("k-1").content) == ("ken", "new")
    with acting_as(ADMIN):
        service.import_note(a_note(id="k-2", user_id="yuki"))
        assert service.get("k-2").user_id == "yuki"
        service.import_note(a_note(user_id="ops", content="newer", updated_at=datetime(2027, 1, 1, tzinfo=UTC)))
        assert (service.get("k-1").user_id, service.get("k-1").content) == ("ken", "newer")
    with acting_as(UNAUTHENTICATED), pytest.raises(AuthenticationError):
        service.import_note(a_note(id="k-3"))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("x" * (MAX_TAG + 1), too_long("status", 100)),
        ("a\x00", not_plain("status")),
    ],
)
def test_a_status_is_one_short_line(service: KnowledgeService, status: str, message: Message) -> None:
    assert error_of(ValidationError, lambda: service.import_note(a_note(status=status))) == message


FIRST = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(-timedelta(hours=9)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": "a\x00b"}, not_plain("id")),
        ({"id": "a\ud800"}, not_plain("id")),
        ({"id": "x" * (MAX_ID + 1)}, too_long("id", 300)),
        *[({"id": word}, Message("knowledge.id_invalid")) for word in ("tags", "a/b", "..", ".")],
        ({"user_id": "a\x00b"}, not_plain("user_id")),
        ({"user_id": "a\ud800"}, not_plain("user_id")),
        ({"created_at": FIRST}, Message("knowledge.date_out_of_range", field="created_at")),
        ({"updated_at": LAST}, Message("knowledge.date_out_of_range", field="updated_at")),
    ],
)
def test_unstorable_note_is_rejected(service: KnowledgeService, fields: dict[str, Any], message: Message) -> None:
    with acting_as(ADMIN):
        assert error_of(ValidationError, lambda: service.import_note(a_note(**fields))) == message
        assert error_of(ValidationError, lambda: service.restore(a_note(**fields))) == message
        assert service.count() == 0


def test_reserved_ids_cover_the_paths_of_the_api(service: KnowledgeService) -> None:
    parts = {str(getattr(route, "path", "")).strip("/").split("/")[0] for route in create_api(service).routes}
    assert {part for part in parts if part and "{" not in part} == RESERVED_IDS


def test_longest_id_and_extreme_dates_are_stored(service: KnowledgeService) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    note = a_note(id="x" * MAX_ID, created_at=first, updated_at=last)
    with acting_as(YUKI):
        service.import_note(note)
        assert service.get(note.id) == note


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_dates_are_stored_in_utc(service: KnowledgeService) -> None:
    tokyo = datetime(2026, 4, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    with acting_as(YUKI):
        back = service.restore(a_note(created_at=tokyo, updated_at=datetime(2026, 4, 1)))  # noqa: DTZ001 - that is it
        assert service.get("k-1") == back == a_note()
        assert back.created_at.tzinfo is back.updated_at.tzinfo is UTC


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800"])
def test_impossible_id_is_not_found_and_impossible_tag_is_rejected(service: KnowledgeService, text: str) -> None:
    for do in (
        lambda: service.get(text),
        lambda: service.delete(text),
        lambda: service.update(text, title="x"),
        lambda: service.related(text),
    ):
        assert error_of(NotFoundError, do) == NOT_FOUND
    assert error_of(ValidationError, lambda: service.browse(tag=text)) == not_plain("tag")


def test_tag_filter_has_the_length_limit_of_tags(service: KnowledgeService) -> None:
    assert service.browse(tag="#" + "あ" * MAX_TAG).notes == []
    message = error_of(ValidationError, lambda: service.browse(tag="あ" * (MAX_TAG + 1)))
    assert message == too_long("tag", MAX_TAG)


def test_note_is_restored_once(service: KnowledgeService, home: Path) -> None:
    with acting_as(YUKI):
        back = service.restore(a_note(id=" k-1 ", content=" c "))
        assert service.get("k-1") == back == a_note()
        with pytest.raises(ConflictError):
            service.restore(a_note())
    assert audit(home) == [("yuki", "note.restored", "k-1")]
    required = Message("knowledge.id_required")
    assert error_of(ValidationError, lambda: service.restore(a_note(id=" "))) == required
