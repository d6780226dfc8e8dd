"""Links between notes: what they lead to, backlinks, renaming, and what others may not see."""

from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import page, service, store

from chie.access.identity import User, acting_as
from chie.knowledge.links.links import Links
from chie.knowledge.links.text import ids_in, renamed, titles_in
from chie.knowledge.service import KnowledgeService

__all__ = ["page", "service", "store"]

pytestmark = pytest.mark.req("MT-5")

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")


def create(page: TestClient, title: str, content: str) -> str:
    return str(page.post(API, json={"title": title, "content": content}).json()["id"])


def links(page: TestClient, note_id: str) -> Any:
    return page.get(f"{API}/{note_id}/links").json()


def test_links_lead_to_notes_and_notes_know_who_links_to_them(page: TestClient) -> None:
    target = create(page, "nginx の 413", "raise it")
    by_title = create(page, "Uploads", "see [[Nginx の 413|the limit]] and [[no such note]]")
    by_id = create(page, "Proxy", f"see [the limit](note://{target})")
    create(page, "Code", f"`[[nginx の 413]]` and\n\n```\nnote://{target}\n```")
    assert links(page, by_title) == {
        "links": [{"target": "Nginx の 413", "id": target, "title": "nginx の 413"}],
        "backlinks": [],
    }
    assert links(page, by_id)["links"] == [{"target": f"note://{target}", "id": target, "title": "nginx の 413"}]
    assert links(page, target) == {
        "links": [],
        "backlinks": [{"id": by_id, "title": "Proxy"}, {"id": by_title, "title": "Uploads"}],
    }


def test_private_notes_of_others_neither_resolve_nor_link(service: KnowledgeService) -> None:
    with acting_as(AKI):
        hidden = service.save("secret", title="The plan", private=True).id
        service.save("see [[Roadmap]]", title="mine", private=True)
    with acting_as(BEN):
        roadmap = service.save("see [[The plan]] and note://" + hidden, title="Roadmap").id
        assert (Links(service).of(roadmap).links, Links(service).of(roadmap).backlinks) == ([], [])
    with acting_as(AKI):
        found = Links(service).of(roadmap)
        assert [link.id for link in found.links] == [hidden, hidden]
        assert [link.title for link in found.backlinks] == ["mine"]


def test_a_new_title_is_followed_in_the_notes_that_one_may_change(service: KnowledgeService) -> None:
    with acting_as(AKI):
        target = service.save("x", title="Old title", origin="person").id
        mine = service.save("see [[old title|here]], `[[Old title]]`", title="Mine", origin="person").id
    with acting_as(BEN):
        other = service.save("see [[Old title]]", title="Of Ben").id
    with acting_as(AKI):
        service.update(target, title="新しい題")
        assert service.get(mine).content == "see [[新しい題|here]], `[[Old title]]`"
        assert service.get(mine).confirmed_by == "aki"
        assert service.get(other).content == "see [[Old title]]"
        assert [link.id for link in Links(service).of(target).backlinks] == [mine]


def test_a_title_that_another_note_has_too_is_not_followed(service: KnowledgeService) -> None:
    first, second = (service.save(text, title="Same").id for text in ("x", "y"))
    linking = service.save("see [[Same]]", title="Linking").id
    service.update(first, title="Other")
    assert service.get(linking).content == "see [[Same]]"
    assert [link.id for link in Links(service).of(linking).links] == [second]


def test_the_title_of_a_private_note_stays_out_of_shared_texts(service: KnowledgeService) -> None:
    with acting_as(AKI):
        hidden = service.save("x", title="Code name", private=True).id
        shared = service.save("see [[Code name]]", title="Shared").id
        own = service.save("see [[Code name]]", title="Own", private=True).id
        service.update(hidden, title="Layoffs")
        assert service.get(shared).content == "see [[Code name]]"
        assert service.get(own).content == "see [[Layoffs]]"


def test_an_export_and_import_keep_links(page: TestClient) -> None:
    target = create(page, "Target", "x")
    linking = create(page, "Linking", f"[[Target]] note://{target}")
    archive = page.get(f"{API}/export").content
    before = links(page, linking)
    for note_id in (target, linking):
        page.delete(f"{API}/{note_id}")
    page.post(f"{API}/import", files={"files": ("notes.zip", archive, "application/zip")})
    assert links(page, linking) == before
    assert len(before["links"]) == 2


def test_texts() -> None:
    text = "[[a]] [[ b |c]] [[a]] note://k-1 (note://k%202) `[[code]]`\n    [[d]]"
    assert titles_in(text) == ["a", "b", "d"]
    assert ids_in(text) == ["k-1", "k 2"]
    assert renamed("[[A]] [[b]]", "a", "x") == "[[x]] [[b]]"
    assert renamed("[[a]]", "a", "x|y") == "[[a]]"
