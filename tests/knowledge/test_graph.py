"""The graph of links: who sees which notes in it, and its bounds."""

from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import page, service, store

from chie.access.identity import User, acting_as
from chie.knowledge.links import graph
from chie.knowledge.links.graph import Graph, link_graph
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space

__all__ = ["page", "service", "store"]

pytestmark = pytest.mark.req("MT-5")

AKI, BEN = User("aki"), User("ben")


def lines(drawn: Graph) -> set[tuple[str, str]]:
    return {(drawn.notes[link.source].title, drawn.notes[link.target].title) for link in drawn.links}


def test_the_graph_has_linked_notes_and_their_links(page: TestClient) -> None:
    def create(title: str, content: str, **fields: Any) -> str:
        return str(page.post("/api/knowledge", json={"title": title, "content": content, **fields}).json()["id"])

    hub = create("中心", "itself: [[中心]]", tags=["db"])
    create("A", "see [[中心]] and again [[中心|it]]")
    create("B", f"see note://{hub}, [[A]] and [[no such note]]")
    create("Alone", "no links")
    found = page.get("/api/knowledge/graph").json()
    assert {"id": hub, "title": "中心", "tags": ["db"]} in found["notes"]
    assert {note["title"] for note in found["notes"]} == {"中心", "A", "B"}
    titles = [note["title"] for note in found["notes"]]
    drawn = {(titles[link["source"]], titles[link["target"]]) for link in found["links"]}
    assert drawn == {("A", "中心"), ("B", "中心"), ("B", "A")}
    assert len(found["links"]) == found["total"] == 3


def test_an_empty_graph(service: KnowledgeService) -> None:
    service.save("no links", title="Alone")
    assert link_graph(service) == Graph(notes=[], links=[], total=0)


def test_the_graph_has_only_what_the_viewer_sees(service: KnowledgeService) -> None:
    service.store.spaces.save(Space(name="closed", grants={"aki": "write"}))
    with acting_as(AKI):
        service.save("x", title="Shared")
        service.save("see [[Shared]]", title="Private", private=True)
        service.save("see [[Shared]]", title="Closed", space="closed")
        service.save("see [[Private]] and [[Closed]]", title="Guess")
        assert lines(link_graph(service)) == {
            ("Private", "Shared"),
            ("Closed", "Shared"),
            ("Guess", "Private"),
            ("Guess", "Closed"),
        }
    with acting_as(BEN):
        assert link_graph(service) == Graph(notes=[], links=[], total=0)


def test_a_former_title_is_a_line_too(service: KnowledgeService) -> None:
    with acting_as(AKI):
        target = service.save("x", title="Old").id
    with acting_as(BEN):
        service.save("see [[Old]]", title="Of Ben")
    with acting_as(AKI):
        service.update(target, title="New")
        assert lines(link_graph(service)) == {("Of Ben", "New")}


def test_of_too_many_notes_the_most_linked_are_drawn(
    service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.save("x", title="Hub")
    for number in range(4):
        service.save("see [[Hub]]", title=f"Leaf {number}")
    monkeypatch.setattr(graph, "MAX_GRAPH_NOTES", 3)
    monkeypatch.setattr(graph, "MAX_GRAPH_LINKS", 1)
    drawn = link_graph(service)
    assert (drawn.notes[0].title, len(drawn.notes), len(drawn.links), drawn.total) == ("Hub", 3, 1, 5)
