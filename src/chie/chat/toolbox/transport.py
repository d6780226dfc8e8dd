"""How a server is reached: in this process, by a program's stdio, or by HTTP."""

import shutil
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.stderr import LastWords
from chie.errors import ConfigurationError
from chie.logging import redact
from chie.mcp_kit.auth import user_ticket
from chie.mcp_kit.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from fastmcp import Client
    from mcp.client.session import MessageHandlerFnT

CONNECT_SECONDS = 20.0
TAIL = 400
SHORTEST_SECRET = 6  # what is shorter is a number, a level, `true`: hiding it would riddle the words


class Way(ABC):
    """Makes a fresh client for every attempt, and explains an attempt that failed."""

    transport: Literal["built-in", "stdio", "http"]

    @contextmanager
    @abstractmethod
    def client(self, handler: "MessageHandlerFnT") -> "Iterator[Client[Any]]": ...

    def identity(self) -> "AbstractContextManager[dict[str, str]]":
        """What tells the server for whom a call is; only rooms of this process are told."""
        return nullcontext({})

    @abstractmethod
    def explain(self, error: BaseException) -> str:
        """What happened and what to do, without a secret."""


class BuiltIn(Way):
    transport = "built-in"

    def __init__(self, server: Server) -> None:
        self._server = server

    @contextmanager
    def client(self, handler: "MessageHandlerFnT") -> "Iterator[Client[Any]]":
        from fastmcp import Client

        yield Client(self._server, message_handler=handler, init_timeout=CONNECT_SECONDS)

    def identity(self) -> "AbstractContextManager[dict[str, str]]":
        return user_ticket()

    def explain(self, error: BaseException) -> str:
        return f"The room {self._server.name} did not start ({_kind(error)}). The log has the reason."


class Stdio(Way):
    """A program. It gets a clean environment, no shell, and ends with the connection."""

    transport = "stdio"

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._said = ""

    @contextmanager
    def client(self, handler: "MessageHandlerFnT") -> "Iterator[Client[Any]]":
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        command = self._command()
        words = LastWords(command)
        with words:
            way = StdioTransport(
                command,
                list(self._spec.args),
                env={name: value.get_secret_value() for name, value in self._spec.env.items()},
                cwd=str(self._spec.cwd) if self._spec.cwd else None,
                keep_alive=False,
                log_file=words.file,
            )
            try:
                yield Client(way, message_handler=handler, init_timeout=CONNECT_SECONDS)
            finally:
                words.__exit__()
                self._said = str(words)

    def _command(self) -> str:
        command = self._spec.command or ""
        found = shutil.which(command)
        if found is None:
            raise ConfigurationError(
                f"The program {command} was not found. Install it, or correct `command` in servers.json."
            )
        return found

    def explain(self, error: BaseException) -> str:
        if isinstance(error, ConfigurationError):
            return error.message
        said = f" Its last words: {redact(self._masked(self._said))[-TAIL:]}" if self._said else ""
        return f"The program {self._spec.command} ended or did not answer.{said} Mend it in servers.json, or by hand."

    def _masked(self, words: str) -> str:
        """Without what we gave it, whatever the names say: line by line, as words are kept."""
        given = (line.strip() for value in self._spec.env.values() for line in value.get_secret_value().splitlines())
        for secret in sorted(given, key=len, reverse=True):
            if len(secret) >= SHORTEST_SECRET:
                words = words.replace(secret, "***")
        return words


class Http(Way):
    transport = "http"

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec

    @contextmanager
    def client(self, handler: "MessageHandlerFnT") -> "Iterator[Client[Any]]":
        from fastmcp import Client
        from fastmcp.client.transports import StreamableHttpTransport

        headers = {name: value.get_secret_value() for name, value in self._spec.headers.items()}
        way = StreamableHttpTransport(self._spec.url or "", headers=headers)
        yield Client(way, message_handler=handler, init_timeout=CONNECT_SECONDS)

    def explain(self, error: BaseException) -> str:
        return (
            f"No MCP server answers at {_without_secrets(self._spec.url or '')} ({_kind(error)}). "
            "Start it, or correct `url` and `headers` in servers.json."
        )


def way_to(spec: ServerSpec) -> Way:
    return Stdio(spec) if spec.command else Http(spec)


def _without_secrets(url: str) -> str:
    """Neither a password before the host nor a token after the path."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _kind(error: BaseException) -> str:
    return type(error.__cause__ or error).__name__
