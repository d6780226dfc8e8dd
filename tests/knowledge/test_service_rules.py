"""Validation, permissions and the audit log of the service, on a store without a model."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.embedders import HashingEmbedder

from chie.access.identity import UNAUTHENTICATED, User, acting_as
from chie.errors import AuthenticationError, ChieError, ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge.api import create_api
from chie.knowledge.note import Hit, Note
from chie.knowledge.service import MAX_RELATED, KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.validation import (
    MAX_CONTENT,
    MAX_ID,
    MAX_LIMIT,
    MAX_QUERY,
    MAX_SOURCE,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    RESERVED_IDS,
)
from chie.knowledge.viewer import Viewer
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


def test_saved_note_has_author_and_dates(service: KnowledgeService, home: Path) -> None:
    with acting_as(YUKI):
        saved = service.save(
            "  nginx の設定 ", title=" a\n b ", tags=["#Xx"], source=" http://a ", private=True, origin="person"
        )
        note = service.get(f" {saved.id} ")
    assert note == Note(
        id=saved.id,
        title="a b",
        content="nginx の設定",
        tags=["Xx"],
        source="http://a",
        user_id="yuki",
        origin="person",
        private=True,
        confirmed_by="yuki",
        confirmed_at=START,
        created_at=START,
        updated_at=START,
    )
    assert (saved.title, saved.tags, saved.user_id, saved.private) == ("a b", ["Xx"], "yuki", True)
    assert (saved.created_at, saved.updated_at, saved.similar, saved.notice) == (START, START, [], None)
    assert audit(home) == [("yuki", "note.created", saved.id)]


def test_defaults_of_a_saved_note(service: KnowledgeService) -> None:
    note = service.get(service.save("x").id)
    assert (note.origin, note.private, note.source, note.tags) == ("assistant", False, None, [])


def test_writing_requires_a_user(service: KnowledgeService) -> None:
    with acting_as(UNAUTHENTICATED), pytest.raises(AuthenticationError):
        service.save("x")


def test_at_most_three_visible_similar_notes_are_listed(service: KnowledgeService) -> None:
    with acting_as(YUKI):
        own = service.save("nginx answers 413", private=True)
        assert [note.id for note in service.save("nginx answers 413", private=True).similar] == [own.id]
    with acting_as(KEN):
        assert service.save("nginx answers 413").similar == []
        for _ in range(3):
            service.save("nginx answers 413")
        assert len(service.save("nginx answers 413").similar) == 3


def test_notice_of_the_store_is_returned(service: KnowledgeService, monkeypatch: pytest.MonkeyPatch) -> None:
    note, notice = service.save("x"), Message("knowledge.saved_without_vectors", reason="")
    monkeypatch.setattr(service.store, "save", lambda *_, **__: notice)
    assert service.save("x").notice == notice
    assert service.update(note.id, title="y").notice == notice


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": " \n"}, Message("knowledge.content_required")),
        (
            {"content": "あ" * (MAX_CONTENT + 1)},
            Message("knowledge.content_too_long", length=200_001, limit=200_000),
        ),
        (
            {"content": " ab\x1b[0m"},
            Message("knowledge.content_not_plain_text", character="U+001B", position=2),
        ),
        ({"title": "あ" * (MAX_TITLE + 1)}, too_long("title", 300)),
        ({"title": "a\x00"}, not_plain("title")),
        ({"tags": ["あ" * (MAX_TAG + 1)]}, too_long("tags", 100)),
        ({"tags": ["a\x00"]}, not_plain("tags")),
        (
            {"tags": [str(n) for n in range(MAX_TAGS + 1)]},
            Message("knowledge.tags_too_many", count=51, limit=50),
        ),
        ({"source": "x" * (MAX_SOURCE + 1)}, too_long("source", 2_000)),
        ({"source": "a\x00"}, not_plain("source")),
    ],
)
def test_invalid_note_is_rejected(service: KnowledgeService, fields: dict[str, Any], message: Message) -> None:
    assert error_of(ValidationError, lambda: service.save(**{"content": "x", **fields})) == message
    assert error_of(ValidationError, lambda: service.import_note(a_note(**fields))) == message
    assert service.count() == 0


def test_longest_fields_are_accepted(service: KnowledgeService) -> None:
    tags = [f"{n:03}" + "あ" * (MAX_TAG - 3) for n in range(MAX_TAGS)]
    saved = service.save("a\tb\nc", title="あ" * MAX_TITLE, tags=tags, source="x" * MAX_SOURCE)
    note = service.get(saved.id)
    assert (note.content, len(note.title), note.tags, len(note.source or "")) == (
        *("a\tb\nc", MAX_TITLE),
        *(tags, MAX_SOURCE),
    )


def test_longest_content_is_accepted(service: KnowledgeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.knowledge.validation.MAX_CONTENT", 5)
    assert service.get(service.save("12345").id).content == "12345"
    reason = error_of(ValidationError, lambda: service.save("123456"))
    assert reason == Message("knowledge.content_too_long", length=6, limit=5)


FAMILY = "👨\u200d👩\u200d👧"


@pytest.mark.req("KG-2")
@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("a\nb " + "あ" * 40, "a b " + "あ" * 26),
        ("  def f():\n    return  1  # 戻り値", "def f():     return  1  # 戻り値"[:30]),
        ("one\r\ntwo\r\n\r\nthree\tfour\u2028five", "one two  three\tfour five"),
        ("x" * 29 + " yz", "x" * 29),
        ("x" * 29 + "か\u3099き", "x" * 29),
        ("x" * 28 + "か\u3099き", "x" * 28 + "か\u3099"),
        ("x" * 27 + FAMILY, "x" * 27),
        ("x" * 25 + FAMILY + "y", "x" * 25 + FAMILY),
        ("x" * 29 + "👍🏽", "x" * 29),
        ("x" * 27 + "🇯🇵🇫🇷", "x" * 27 + "🇯🇵"),
        ("x" * 28 + "🇯🇵🇫🇷", "x" * 28 + "🇯🇵"),
        ("x" * 29 + "ﾊﾟ", "x" * 29),
        ("x" * 29 + "\u1112\u1161\u11ab", "x" * 29),
        ("x" * 29 + "가\u11a8", "x" * 29),
        ("x" * 29 + "각가", "x" * 29 + "각"),
        ("e" + "\u0301" * 40, "e" + "\u0301" * 29),
    ],
)
def test_default_title_is_the_first_thirty_characters(service: KnowledgeService, content: str, title: str) -> None:
    saved = service.save(content)
    assert saved.title == title
    note = service.get(saved.id)
    service.delete(note.id)
    assert service.restore(note) == note  # blanks and tabs are kept here too
    assert service.update(note.id, content="別の内容").title == "別の内容"


def test_update_changes_only_given_fields(service: KnowledgeService, home: Path) -> None:
    with acting_as(YUKI):
        saved = service.save("one", title="chosen", tags=["a"], source="s")
        before = service.get(saved.id)
        changed = service.update(saved.id, content=" two ")
        assert service.get(saved.id) == replace(before, content="two", updated_at=START + timedelta(minutes=1))
        assert (changed.created_at, changed.updated_at) == (START, START + timedelta(minutes=1))
        service.update(saved.id, tags=["#b", "B"])
        assert service.get(saved.id).tags == ["b"]
        service.update(saved.id, title=" new ")
        assert service.get(saved.id).title == "new"
        assert service.update(saved.id, private=True).private
        assert service.get(saved.id).content == "two"
        assert not service.update(saved.id, private=False).private
    assert audit(home)[1:] == [("yuki", "note.changed", saved.id)] * 5


def test_derived_title_follows_the_content(service: KnowledgeService) -> None:
    saved = service.save("one")
    assert service.update(saved.id, tags=["x"]).title == "one"
    assert service.update(saved.id, content="two").title == "two"
    assert service.update(saved.id, title="").title == "two"


def test_update_without_changes_is_rejected(service: KnowledgeService) -> None:
    saved = service.save("one")
    message = error_of(ValidationError, lambda: service.update(saved.id))
    assert message == Message("knowledge.nothing_to_change")


def test_unseen_version_is_not_overwritten(service: KnowledgeService) -> None:
    saved = service.save("one")
    assert service.update(saved.id, title="x", seen=saved.updated_at).title == "x"
    assert error_of(ConflictError, lambda: service.update(saved.id, title="y", seen=saved.updated_at)) == Message(
        "knowledge.note_changed"
    )
    assert service.get(saved.id).title == "x"


def test_missing_note_is_not_found(service: KnowledgeService) -> None:
    for do in (
        lambda: service.get("k-0"),
        lambda: service.delete("k-0"),
        lambda: service.update("k-0", title="x"),
        lambda: service.related("k-0"),
    ):
        assert error_of(NotFoundError, do) == NOT_FOUND
    assert service.find("k-0") is None
    required = Message("knowledge.id_required")
    assert error_of(ValidationError, lambda: service.get(" ")) == required


def test_concurrently_deleted_note_is_not_found(
    service: KnowledgeService, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    saved = service.save("x")
    monkeypatch.setattr(service.store, "delete", lambda _, **__: False)
    assert error_of(NotFoundError, lambda: service.delete(saved.id)) == NOT_FOUND
    assert len(audit(home)) == 1


def test_deletion_is_audited(service: KnowledgeService, home: Path) -> None:
    with acting_as(YUKI):
        saved = service.save("x")
        service.delete(f" {saved.id}")
    assert service.find(saved.id) is None
    assert audit(home)[-1] == ("yuki", "note.deleted", saved.id)


def test_private_note_is_invisible_to_others(service: KnowledgeService) -> None:
    with acting_as(YUKI):
        own = service.save("nginx secret", tags=["s"], private=True)
        assert (service.count(), service.find(own.id) is not None) == (1, True)
        assert [note.id for note in service.browse().notes] == [own.id]
        assert [hit.id for hit in service.search("nginx secret").hits] == [own.id]
        assert [tag.tag for tag in service.tags()] == ["s"]
    with acting_as(ADMIN):
        other = service.save("nginx secret")
        assert (service.count(), service.find(own.id)) == (1, None)
        assert [note.id for note in service.browse().notes] == [other.id]
        assert [hit.id for hit in service.search("nginx secret").hits] == [other.id]
        assert service.tags() == []
        assert service.related(other.id) == []
        for do in (
            lambda: service.update(own.id, title="x"),
            lambda: service.delete(own.id),
            lambda: service.import_note(a_note(id=own.id)),
            lambda: service.restore(a_note(id=own.id)),
        ):
            assert error_of(NotFoundError, do) == NOT_FOUND


def test_only_author_or_admin_may_change_a_note(service: KnowledgeService) -> None:
    with acting_as(YUKI):
        saved = service.save("one", title="t")
    with acting_as(KEN):
        for do in (
            lambda: service.update(saved.id, title="x"),
            lambda: service.delete(saved.id),
            lambda: service.import_note(a_note(id=saved.id)),
        ):
            assert error_of(ForbiddenError, do) == THEIRS
        assert service.get(saved.id).title == "t"
    with acting_as(ADMIN):
        assert service.update(saved.id, title="x").user_id == "yuki"
        assert service.update(saved.id, title="y", private=False).title == "y"
        message = error_of(ForbiddenError, lambda: service.update(saved.id, private=True))
        assert message == Message("knowledge.visibility_forbidden", author="yuki")
        assert error_of(ForbiddenError, lambda: service.import_note(a_note(id=saved.id, private=True))) == message
        service.delete(saved.id)


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
        service.import_note(a_note(user_id="ops", content="newer"))
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


def test_lists_are_as_long_as_asked_and_twenty_without(service: KnowledgeService) -> None:
    for number in range(22):
        service.save(f"note {number}", tags=["t"] if number < 2 else [])
    page = service.browse(tag="", cursor="")
    assert len(page.notes) == 20
    assert len(service.browse(cursor=page.next_cursor).notes) == 2
    assert len(service.browse(tag="t").notes) == len(service.browse(tag=" #t").notes) == 2
    assert len(service.browse(tag="#").notes) == 20
    assert len(service.browse(limit=MAX_LIMIT).notes) == 22
    assert len(service.browse(limit=1).notes) == 1


@pytest.mark.parametrize("limit", [0, MAX_LIMIT + 1])
def test_a_limit_has_limits(service: KnowledgeService, limit: int) -> None:
    saved = service.save("x")
    for do in (
        lambda: service.browse(limit=limit),
        lambda: service.search("x", limit=limit),
        lambda: service.related(saved.id, limit=limit),
    ):
        assert error_of(ValidationError, do) == Message("knowledge.limit_out_of_range", maximum=100)


def test_search_has_a_default_limit_and_filters_by_tags(service: KnowledgeService) -> None:
    for number in range(12):
        service.save(f"nginx {number}", tags=["a"] if number == 3 else [])
    assert len(service.search(" nginx ").hits) == 10
    assert len(service.search("nginx", limit=12).hits) == 12
    assert [hit.title for hit in service.search("nginx", tags=["#A"]).hits] == ["nginx 3"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (" ", Message("knowledge.query_required")),
        ("x" * (MAX_QUERY + 1), too_long("query", 10_000)),
        ("a\x00b", not_plain("query")),
    ],
)
def test_invalid_query_is_rejected(service: KnowledgeService, query: str, message: Message) -> None:
    assert error_of(ValidationError, lambda: service.search(query)) == message


def test_longest_query_is_accepted(service: KnowledgeService) -> None:
    saved = service.save("nginx の接続数")
    service.save("something else")
    query = ("nginx の接続数 " * MAX_QUERY)[: MAX_QUERY - 1] + "x"
    assert service.search(query).hits[0].id == saved.id


def test_related_are_other_notes_on_the_same_matter(service: KnowledgeService) -> None:
    saved = [service.save("nginx upload limit 413").id for _ in range(MAX_RELATED + 2)]
    far = service.save("別の話 entirely").id
    hits = service.related(saved[0])
    assert len(hits) == MAX_RELATED
    assert not {saved[0], far} & {hit.id for hit in hits}
    assert len(service.related(saved[0], limit=2)) == 2
    assert len(service.related(saved[0], limit=MAX_LIMIT - 1)) == MAX_RELATED + 1


def test_related_are_looked_for_by_the_title_and_the_beginning(
    service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = service.save("あ" * 500, title="題")
    search, asked = service.store.search, list[tuple[str, Any]]()

    def spy(query: str, **options: Any) -> Any:
        asked.append((query, options))
        found = search(query, **options)
        hit = Hit(id="near", title="", content="", score=0.35, created_at=START, updated_at=START)
        return replace(found, hits=[*found.hits, hit, replace(hit, id="far", score=0.349)])

    monkeypatch.setattr(service.store, "search", spy)
    assert [hit.id for hit in service.related(saved.id)] == ["near"]
    assert asked == [("題\n" + "あ" * 400, {"limit": MAX_RELATED + 1, "tags": (), "viewer": Viewer()})]
