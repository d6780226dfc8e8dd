"""HTTP API of links between notes, part of `/api/knowledge`."""

from fastapi import APIRouter

from chie.http.openapi_errors import errors
from chie.knowledge.links.graph import Graph, link_graph
from chie.knowledge.links.links import Links, NoteLinks
from chie.knowledge.service import KnowledgeService


def declare_links(router: APIRouter, service: KnowledgeService) -> None:
    links = Links(service)

    @router.get("/graph", responses=errors())
    def draw_graph() -> Graph:
        """Notes that link to each other; at most the 1,000 with the most links, and 5,000 links."""
        return link_graph(service)

    @router.get("/{note_id}/links", responses=errors(404))
    def list_links(note_id: str) -> NoteLinks:
        """The notes that it links to with `[[title]]` or `note://id`, and those that link to it."""
        return links.of(note_id)
