"""Transports to a server: in this process, over a program's stdio, or over HTTP."""

import shutil
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from chie.chat.toolbox.added_servers import AddedServerSpec
from chie.chat.toolbox.message_limits import create_http_client
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.stderr import StderrTail
from chie.chat.toolbox.tool import Transport as TransportName
from chie.errors import ConfigurationError
from chie.logging import redact
from chie.mcp_kit.auth import user_ticket
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import httpx2
    from fastmcp import Client
    from mcp.client.session import MessageHandlerFnT

    from chie.chat.toolbox.server_requests import ServerRequests

CONNECT_TIMEOUT_SECONDS = 20.0
LOGIN_REQUIRED = "toolbox.login_required"
UNAUTHORIZED = 401
MAX_OUTPUT_SHOWN = 400  # characters
MIN_SECRET_LENGTH = 6  # shorter values are numbers, levels or `true`; masking them would make the text unreadable


class Transport(ABC):
    """Creates a new client for each connection attempt and explains failed attempts."""

    name: TransportName

    @contextmanager
    @abstractmethod
    def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "Iterator[Client[Any]]": ...

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

    @contextmanager
    def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "Iterator[Client[Any]]":
        from fastmcp import Client

        yield Client(self._server, **_options(handler, requests))

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

    @contextmanager
    def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "Iterator[Client[Any]]":
        from fastmcp import Client

        from chie.chat.toolbox.stdio_session import BoundedStdio

        command = self._command()
        stderr = StderrTail(command)
        with stderr:
            transport = BoundedStdio(
                command,
                list(self._spec.args),
                env={name: value.get_secret_value() for name, value in self._spec.env.items()},
                cwd=str(self._spec.cwd) if self._spec.cwd else None,
                stderr=stderr.file,
            )
            try:
                yield Client(transport, **_options(handler, requests, self._spec))
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
    """A URL. With `auth`, requests carry the token of one user."""

    name = "http"

    def __init__(self, spec: ServerSpec, auth: "httpx2.Auth | None" = None) -> None:
        self._spec = spec
        self._auth = auth
        self._is_unauthorized = False

    @contextmanager
    def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "Iterator[Client[Any]]":
        from fastmcp import Client
        from fastmcp.client.transports import StreamableHttpTransport

        headers = {name: value.get_secret_value() for name, value in self._spec.headers.items()}
        transport = StreamableHttpTransport(
            self._spec.url or "", headers=headers, httpx_client_factory=self._http_client
        )
        yield Client(transport, **_options(handler, requests, self._spec))

    def _http_client(
        self,
        headers: dict[str, str] | None = None,
        timeout: "httpx2.Timeout | None" = None,
        auth: "httpx2.Auth | None" = None,
        **_: object,
    ) -> "httpx2.AsyncClient":
        client = create_http_client(headers, timeout, self._auth or auth)
        client.event_hooks["response"].append(self._note_status)
        return client

    async def _note_status(self, response: "httpx2.Response") -> None:
        """FastMCP does not tell that a server wants a login."""
        if str(response.request.url).rstrip("/") == (self._spec.url or "").rstrip("/"):
            self._is_unauthorized = response.status_code == UNAUTHORIZED

    def explain(self, error: BaseException) -> Message:
        has_token = any(name.lower() == "authorization" for name in self._spec.headers)
        if self._is_unauthorized and not has_token:
            return Message(LOGIN_REQUIRED)
        url = _without_secrets(self._spec.url or "")
        is_added = isinstance(self._spec, AddedServerSpec)
        if self._is_unauthorized:
            return Message("toolbox.added_token_rejected" if is_added else "toolbox.token_rejected", url=url)
        code = "toolbox.added_server_unreachable" if is_added else "toolbox.server_unreachable"
        return Message(code, url=url, error=_kind(error))


def _options(
    handler: "MessageHandlerFnT", requests: "ServerRequests", spec: ServerSpec | None = None
) -> dict[str, Any]:
    """What every client gets. A server learns of roots only if its entry has some."""
    roots = [str(root) for root in spec.roots] if spec else []
    return {
        "message_handler": handler,
        "log_handler": requests.log,
        "elicitation_handler": requests.elicit,
        "sampling_handler": requests.sample,
        "init_timeout": CONNECT_TIMEOUT_SECONDS,
        **({"roots": roots} if roots else {}),
    }


def create_transport(spec: ServerSpec) -> Transport:
    return Stdio(spec) if spec.command else Http(spec)


def _without_secrets(url: str) -> str:
    """Without user info and query, which may hold a password or a token."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _kind(error: BaseException) -> str:
    return type(error.__cause__ or error).__name__
