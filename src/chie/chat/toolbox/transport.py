"""Transports to a server: in this process, over a program's stdio, or over HTTP."""

import shutil
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import mcp_types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from chie.chat.toolbox.added_servers import AddedServerSpec
from chie.chat.toolbox.checked_transport import CheckedTransport, RefusedUrlError
from chie.chat.toolbox.client import Client
from chie.chat.toolbox.message_limits import create_http_client, register_encoding
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.stderr import StderrTail
from chie.chat.toolbox.tool import Transport as TransportName
from chie.errors import ChieError, ConfigurationError
from chie.logging import redact
from chie.mcp_kit.auth import user_ticket
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message
from chie.web_fetch.url_policy import UrlPolicy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    import httpx2
    from mcp.client import ClientRequestContext
    from mcp.client.session import MessageHandlerFnT

    from chie.chat.toolbox.server_requests import ServerRequests

DISCONNECT_TIMEOUT_SECONDS = 5.0
LOGIN_REQUIRED = "toolbox.login_required"
UNAUTHORIZED = 401
MAX_OUTPUT_SHOWN = 400  # characters
MIN_SECRET_LENGTH = 6  # shorter values are numbers, levels or `true`; masking them would make the text unreadable


class Transport(ABC):
    """Creates a new client for each connection attempt and explains failed attempts."""

    name: TransportName

    @abstractmethod
    def client(
        self, handler: "MessageHandlerFnT", requests: "ServerRequests"
    ) -> "AbstractAsyncContextManager[Client]": ...

    def identity(self) -> "AbstractContextManager[dict[str, str]]":
        """Metadata that tells the server which user a call is for; only built-in servers get it."""
        return nullcontext({})

    @abstractmethod
    def explain(self, error: BaseException) -> Message:
        """What failed and how to fix it, without secrets."""


class BuiltIn(Transport):
    name = "built-in"

    def __init__(self, server: Server) -> None:
        self._server = server

    @asynccontextmanager
    async def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "AsyncIterator[Client]":
        yield Client(self._server.connect(), **_options(handler, requests))

    def identity(self) -> "AbstractContextManager[dict[str, str]]":
        return user_ticket()

    def explain(self, error: BaseException) -> Message:
        return Message("toolbox.builtin_failed", server=self._server.name, error=_kind(error))


class Stdio(Transport):
    """A program. It gets a clean environment and no shell, and it ends with the connection."""

    name = "stdio"

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._output = ""

    @asynccontextmanager
    async def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "AsyncIterator[Client]":
        command = self._command()
        program = StdioServerParameters(
            command=command,
            args=list(self._spec.args),
            env={name: value.get_secret_value() for name, value in self._spec.env.items()},
            cwd=self._spec.cwd,
            encoding=register_encoding(),
        )
        stderr = StderrTail(command)
        with stderr:
            try:
                yield Client(stdio_client(program, stderr.file), **_options(handler, requests, self._spec))
            finally:
                stderr.__exit__()
                self._output = str(stderr)

    def _command(self) -> str:
        command = self._spec.command or ""
        found = shutil.which(command)
        if found is None:
            raise ConfigurationError("toolbox.program_not_found", command=command)
        return found

    def explain(self, error: BaseException) -> Message:
        if isinstance(error, ConfigurationError):
            return error.reason
        command, output = self._spec.command or "", redact(self._masked(self._output))[-MAX_OUTPUT_SHOWN:]
        if not output:
            return Message("toolbox.program_failed", command=command)
        return Message("toolbox.program_failed_with_output", command=command, output=output)

    def _masked(self, output: str) -> str:
        """Masks all values of `env`, whatever their names; line by line, because the output is kept in lines."""
        values = (line.strip() for value in self._spec.env.values() for line in value.get_secret_value().splitlines())
        for secret in sorted(values, key=len, reverse=True):
            if len(secret) >= MIN_SECRET_LENGTH:
                output = output.replace(secret, "***")
        return output


class Http(Transport):
    """A URL. With `auth`, requests carry the token of one user. Other URLs that the server names must pass `policy`."""

    name = "http"

    def __init__(self, spec: ServerSpec, policy: UrlPolicy, auth: "httpx2.Auth | None" = None) -> None:
        self._spec = spec
        self._policy = policy
        self._auth = auth
        self._is_unauthorized = False

    @asynccontextmanager
    async def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "AsyncIterator[Client]":
        headers = {name: value.get_secret_value() for name, value in self._spec.headers.items()}
        checked = CheckedTransport(self._spec.url or "", self._policy)
        async with create_http_client(headers, auth=self._auth, transport=checked) as http:
            http.event_hooks["request"].append(_limit_delete)
            http.event_hooks["response"].append(self._note_status)
            transport = streamable_http_client(self._spec.url or "", http_client=http)
            yield Client(transport, **_options(handler, requests, self._spec))

    async def _note_status(self, response: "httpx2.Response") -> None:
        """The SDK does not tell that a server wants a login."""
        if str(response.request.url).rstrip("/") == (self._spec.url or "").rstrip("/"):
            self._is_unauthorized = response.status_code == UNAUTHORIZED

    def explain(self, error: BaseException) -> Message:
        if refused := _refusal(error):
            return refused
        has_token = any(name.lower() == "authorization" for name in self._spec.headers)
        if self._is_unauthorized and not has_token:
            return Message(LOGIN_REQUIRED)
        url = _without_secrets(self._spec.url or "")
        is_added = isinstance(self._spec, AddedServerSpec)
        if self._is_unauthorized:
            return Message("toolbox.added_token_rejected" if is_added else "toolbox.token_rejected", url=url)
        code = "toolbox.added_server_unreachable" if is_added else "toolbox.server_unreachable"
        return Message(code, url=url, error=_kind(error))


async def _limit_delete(request: "httpx2.Request") -> None:
    """The SDK ends its session before it disconnects. A server that is gone must not delay the next connection."""
    if request.method == "DELETE":
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), DISCONNECT_TIMEOUT_SECONDS)


def _options(
    handler: "MessageHandlerFnT", requests: "ServerRequests", spec: ServerSpec | None = None
) -> dict[str, Any]:
    """What every client gets. A server learns of roots only if its entry has some."""
    roots = [mcp_types.Root(uri=uri) for uri in spec.roots] if spec else []

    async def list_roots(_: "ClientRequestContext") -> mcp_types.ListRootsResult:
        return mcp_types.ListRootsResult(roots=roots)

    return {
        "message_handler": handler,
        "logging_callback": requests.log,
        "elicitation_callback": requests.elicit,
        "sampling_callback": requests.sample,
        "list_roots_callback": list_roots if roots else None,
        "cache": None,
    }


def create_transport(spec: ServerSpec, policy: UrlPolicy | None = None) -> Transport:
    return Stdio(spec) if spec.command else Http(spec, policy or UrlPolicy())


def _without_secrets(url: str) -> str:
    """Without user info and query, which may hold a password or a token."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _refusal(error: BaseException) -> Message | None:
    """Why the policy has refused a URL that the server named."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_refusal, error.exceptions)), None)
    cause = error.__cause__ if isinstance(error, RefusedUrlError) else None
    return cause.reason if isinstance(cause, ChieError) else None


def _kind(error: BaseException) -> str:
    """The first error of a group: the SDK's tasks raise theirs together."""
    return _kind(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else type(error).__name__
