"""Prompts and resources of servers, for a person who writes a question. All of their texts are the servers' own."""

import asyncio
import logging
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from mimetypes import guess_extension
from typing import Any, TypeVar

import mcp_types
from mcp import MCPError

from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.errors import FAILURES, ConnectionLostError
from chie.chat.toolbox.views import SCHEME
from chie.errors import NotFoundError, ServiceError, ValidationError

logger = logging.getLogger(__name__)

MAX_LISTED = 100  # of one server
MAX_PAGES = 5
MAX_NAME = 200  # characters, also of a title
MAX_DESCRIPTION = 500
MAX_ARGUMENTS = 20
MAX_URI = 2_048
MAX_PROMPT = 200_000  # as long as a message may be
LIST_TIMEOUT_SECONDS = 10.0

Meta = mcp_types.RequestParamsMeta
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Argument:
    name: str
    title: str
    description: str
    required: bool


@dataclass(frozen=True, kw_only=True)
class Prompt:
    server: str
    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, kw_only=True)
class Resource:
    server: str
    uri: str
    title: str
    description: str
    media_type: str | None


@dataclass(frozen=True)
class ResourceFile:
    name: str
    data: bytes


async def list_prompts(connections: Iterable[Connection]) -> list[Prompt]:
    """The first of each server. A server that fails is left out."""
    return await _every(connections, _prompts)


async def list_resources(connections: Iterable[Connection]) -> list[Resource]:
    """As `list_prompts`; without templates and without the views of MCP Apps, which are for the page."""
    return await _every(connections, _resources)


async def get_prompt(connection: Connection, name: str, arguments: dict[str, str]) -> str:
    """The text of a prompt, for the user to edit."""

    async def get() -> mcp_types.GetPromptResult:
        client = await connection.connected()
        with connection.request_meta() as meta:
            return await client.get_prompt(name, arguments or None, meta=meta)

    result = await _answer(connection, name, get())
    if not all(_is_text(message.content) for message in result.messages):
        raise ValidationError("toolbox.prompt_not_text", server=connection.name, prompt=name)
    text = "\n\n".join(filter(None, map(_spoken, result.messages)))
    if not text:
        raise ValidationError("toolbox.prompt_empty", server=connection.name, prompt=name)
    if len(text) > MAX_PROMPT:
        raise ValidationError("toolbox.prompt_too_long", prompt=name, length=len(text), limit=MAX_PROMPT)
    return text


async def read_resource(connection: Connection, uri: str) -> ResourceFile:
    """A resource that the server lists, as a file: a URI of our choice could make the server read anything."""
    listed = await _answer(connection, uri, _resources(connection))
    found = next((resource for resource in listed if resource.uri == uri), None)
    if found is None:
        raise NotFoundError("toolbox.resource_not_found", server=connection.name)

    async def read() -> mcp_types.ReadResourceResult:
        """Through the session, which answers no questions: nobody is asked about an attachment."""
        session = (await connection.connected()).session
        with connection.request_meta() as meta:
            return await session.read_resource(uri, meta=meta)

    return _as_file(found, (await _answer(connection, found.title, read())).contents)


async def _every(connections: Iterable[Connection], fetch: Callable[[Connection], Awaitable[Sequence[T]]]) -> list[T]:
    async def one(connection: Connection) -> Sequence[T]:
        try:
            async with asyncio.timeout(LIST_TIMEOUT_SECONDS):
                return await fetch(connection)
        except FAILURES as error:
            logger.warning("server %s did not list its content: %s", connection.name, type(error).__name__)
            return ()

    return [item for items in await asyncio.gather(*map(one, connections)) for item in items]


async def _prompts(connection: Connection) -> list[Prompt]:
    client = await connection.connected()
    if not client.server_capabilities.prompts:
        return []

    async def page(cursor: str | None, meta: Meta) -> tuple[list[mcp_types.Prompt], str | None]:
        result = await client.list_prompts(cursor=cursor, meta=meta)
        return result.prompts, result.next_cursor

    found = await _pages(connection, page)
    usable = (one for one in found if len(one.name) <= MAX_NAME and len(one.arguments or ()) <= MAX_ARGUMENTS)
    return [
        Prompt(
            server=connection.name,
            name=prompt.name,
            title=(prompt.title or prompt.name)[:MAX_NAME],
            description=(prompt.description or "")[:MAX_DESCRIPTION],
            arguments=tuple(map(_argument, prompt.arguments or ())),
        )
        for prompt in usable
    ]


def _argument(argument: mcp_types.PromptArgument) -> Argument:
    return Argument(
        name=argument.name,
        title=(argument.title or argument.name)[:MAX_NAME],
        description=(argument.description or "")[:MAX_DESCRIPTION],
        required=bool(argument.required),
    )


async def _resources(connection: Connection) -> list[Resource]:
    client = await connection.connected()
    if not client.server_capabilities.resources:
        return []

    async def page(cursor: str | None, meta: Meta) -> tuple[list[mcp_types.Resource], str | None]:
        result = await client.list_resources(cursor=cursor, meta=meta)
        return result.resources, result.next_cursor

    found = await _pages(connection, page)
    return [
        Resource(
            server=connection.name,
            uri=resource.uri,
            title=(resource.title or resource.name)[:MAX_NAME],
            description=(resource.description or "")[:MAX_DESCRIPTION],
            media_type=resource.mime_type and resource.mime_type[:MAX_NAME],
        )
        for resource in found
        if len(resource.uri) <= MAX_URI and not resource.uri.startswith(SCHEME)
    ]


async def _pages(
    connection: Connection,
    page: Callable[[str | None, Meta], Awaitable[tuple[list[T], str | None]]],
) -> list[T]:
    """With metadata, so that a built-in server knows the user."""
    found: list[T] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        with connection.request_meta() as meta:
            items, cursor = await page(cursor, meta)
        found += items
        if cursor is None or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED]


async def _answer(connection: Connection, thing: str, work: Awaitable[T]) -> T:
    """Within the time limit of a call; whatever the server does wrong becomes an error that says so."""
    try:
        async with asyncio.timeout(connection.timeout):
            return await work
    except ConnectionLostError:
        raise
    except TimeoutError as error:
        seconds = f"{connection.timeout:g}"
        raise ServiceError("toolbox.call_timed_out", tool=thing, seconds=seconds) from error
    except FAILURES as error:
        raise _failure(connection.name, thing, error) from error


def _failure(server: str, thing: str, error: BaseException) -> ServiceError:
    reason = str(error) if isinstance(error, MCPError) else type(error).__name__
    return ServiceError("toolbox.content_failed", server=server, name=thing, error=reason[:MAX_DESCRIPTION])


def _is_text(block: object) -> bool:
    match block:
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents()):
            return True
    return isinstance(block, mcp_types.TextContent | mcp_types.ResourceLink)


def _spoken(message: mcp_types.PromptMessage) -> str:
    """What a prompt lets the assistant say is quoted, because the user sends everything."""
    match message.content:
        case mcp_types.TextContent(text=text):
            said = text
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents(text=text)):
            said = text
        case mcp_types.ResourceLink() as link:
            said = f"[{link.title or link.name}]({link.uri})"
        case _:
            said = ""
    said = said.strip()
    return "\n".join(f"> {line}".rstrip() for line in said.splitlines()) if message.role == "assistant" else said


def _as_file(resource: Resource, contents: Sequence[Any]) -> ResourceFile:
    """Texts are joined. A file in Base64 must be the only content."""
    texts = [one.text for one in contents if isinstance(one, mcp_types.TextResourceContents)]
    if len(texts) == len(contents):
        return ResourceFile(_file_name(resource, "text/plain"), "\n\n".join(texts).encode(errors="replace"))
    if len(contents) > 1:
        raise ValidationError("toolbox.resource_several", server=resource.server, resource=resource.title)
    try:
        data = b64decode(contents[0].blob, validate=True)
    except ValueError as error:
        raise _failure(resource.server, resource.title, error) from error
    return ResourceFile(_file_name(resource, None), data)


def _file_name(resource: Resource, default_type: str | None) -> str:
    """The title with the ending of its type, which decides how a text is read."""
    name = resource.title.replace("/", "-").replace("\\", "-")
    ending = guess_extension((resource.media_type or default_type or "").partition(";")[0].strip()) or ""
    return name if name.lower().endswith(ending) else name + ending
