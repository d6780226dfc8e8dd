"""Notes as resources, for hosts in which a person attaches one to a conversation."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

from fastmcp.resources.base import Resource
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import Annotations, ListResourcesRequest
from starlette.concurrency import run_in_threadpool

from chie.knowledge.note import Heading
from chie.knowledge.service import KnowledgeService
from chie.mcp_kit.server import Server

NOTE = "note://{id}"
MARKDOWN = "text/markdown"
LISTED = 20  # a host may put the list before its model, or into a menu: enough to choose from, no more


def declare_resources(server: Server, service: KnowledgeService) -> None:
    server.resource(
        NOTE,
        name="note",
        title="A note / メモ",
        description="One note, whole, in Markdown with its title, tags, source and dates as front matter.",
        mime_type=MARKDOWN,
    )(_reader(service))
    server.add_middleware(NewestNotes(service))


def address(note_id: str) -> str:
    return NOTE.format(id=quote(note_id, safe=""))


def _reader(service: KnowledgeService) -> Callable[[str], str]:
    def note(id: str) -> str:  # noqa: A002
        from chie.knowledge.markdown import write  # it brings a YAML parser, which nothing else here needs

        return write(service.get(id))

    return note


class NewestNotes(Middleware):
    """Puts the newest notes into the list of resources. All others are found by searching, and read by their id."""

    def __init__(self, service: KnowledgeService) -> None:
        self._service = service

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        page = await run_in_threadpool(self._service.browse, limit=LISTED)
        return [*await call_next(context), *map(_resource, page.notes)]


def _resource(note: Heading) -> Resource:
    return Resource.model_validate(
        {
            "uri": address(note.id),
            "name": note.id,
            "title": note.title,
            "description": ", ".join(note.tags) or note.title,
            "mime_type": MARKDOWN,
            "annotations": Annotations(last_modified=note.updated_at.isoformat()),
        }
    )
