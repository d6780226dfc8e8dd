"""Validation, permissions and the audit log of the service, on a store without a model."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.service_rules import (
    ADMIN,
    KEN,
    NOT_FOUND,
    START,
    THEIRS,
    YUKI,
    a_note,
    audit,
    error_of,
    not_plain,
    service,
    too_long,
)

from chie.access.identity import UNAUTHENTICATED, acting_as
from chie.errors import AuthenticationError, ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import (
    MAX_CONTENT,
    MAX_SOURCE,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
)
from chie.messages.catalogue import Message

__all__ = ["service"]


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
