"""Notes as MCP resources, for clients in which a person attaches one to a conversation."""

from collections.abc import Callable, Sequence

from fastmcp.resources.base import Resource
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import Annotations, ListResourcesRequest
from starlette.concurrency import run_in_threadpool

from chie.knowledge.note import NOTE_URI, Heading, note_uri
from chie.knowledge.service import KnowledgeService
from chie.mcp_kit.server import Server

MARKDOWN = "text/markdown"
MAX_LISTED_NOTES = 20  # clients show the list in a menu or add it to the model's context


def declare_resources(server: Server, service: KnowledgeService) -> None:
    server.resource(
        NOTE_URI,
        name="note",
        title="A note / メモ",
        description="One whole note in Markdown, with title, tags, source and dates as front matter.",
        mime_type=MARKDOWN,
    )(_reader(service))
    server.add_middleware(NewestNotes(service))


def _reader(service: KnowledgeService) -> Callable[[str], str]:
    def note(id: str) -> str:  # noqa: A002
        from chie.knowledge.markdown.note_file import write  # imports a YAML parser, which is not needed on start

        return write(service.get(id))

    return note


class NewestNotes(Middleware):
    """Adds the newest notes to the list of resources. Other notes are found by search and read by id."""

    def __init__(self, service: KnowledgeService) -> None:
        self._service = service

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        page = await run_in_threadpool(self._service.browse, limit=MAX_LISTED_NOTES)
        return [*await call_next(context), *map(_resource, page.notes)]


def _resource(note: Heading) -> Resource:
    return Resource.model_validate(
        {
            "uri": note_uri(note.id),
            "name": note.id,
            "title": note.title,
            "description": ", ".join(note.tags) or note.title,
            "mime_type": MARKDOWN,
            "annotations": Annotations(last_modified=note.updated_at.isoformat()),
        }
    )
