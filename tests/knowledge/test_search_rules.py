"""Limits of lists and searches, and related notes."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.service_rules import START, error_of, not_plain, service, too_long

from chie.errors import ValidationError
from chie.knowledge.note import Hit
from chie.knowledge.service import MAX_RELATED, KnowledgeService
from chie.knowledge.validation import (
    MAX_LIMIT,
    MAX_QUERY,
)
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message

__all__ = ["service"]


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
