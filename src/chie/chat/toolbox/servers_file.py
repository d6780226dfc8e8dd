"""`servers.json`: MCP servers that an operator adds. Commands come only from this file, never from a request."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FileUrl, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from chie.chat.json_file import FieldPath, JsonFile
from chie.chat.settings import ChatSettings

FETCH = "fetch"
UNPUBLISHED = "@modelcontextprotocol/server-fetch"  # often copied, but npm does not have it
FETCH_PACKAGE = "mcp-server-fetch"  # the reference server, which operators may also configure under this name


class OAuthSpec(BaseModel):
    """A client that the operator has registered at the server's provider, where it takes no registrations."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str | None = Field(default=None, validation_alias=AliasChoices("client_id", "clientId"))
    client_secret: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("client_secret", "clientSecret")
    )
    scope: str | None = None


class ServerSpec(BaseModel):
    """How to connect to a server: a program that speaks MCP on stdio, or a URL."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["stdio", "http", "streamable-http"] | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    cwd: Path | None = None
    url: str | None = None
    headers: dict[str, SecretStr] = {}
    roots: tuple[FileUrl, ...] = ()
    auth: Literal["oauth"] | None = None  # found out anyway; other clients' files have it
    oauth: OAuthSpec | None = None
    disabled: bool = False
    approved_tools: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("approved_tools", "autoApprove", "alwaysAllow")
    )
    disabled_tools: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("disabled_tools", "disabledTools")
    )
    always_ask: bool = Field(default=False, validation_alias=AliasChoices("always_ask", "alwaysAsk"))
    timeout: float | None = Field(default=None, gt=0)

    @property
    def is_unpublished(self) -> bool:
        return UNPUBLISHED in self.args

    @model_validator(mode="after")
    def _has_one_transport(self) -> Self:
        """The error types are codes of the message catalogue; `JsonFile` adds the line and the field."""
        if (self.command is None) == (self.url is None):
            raise PydanticCustomError("files.command_or_url", "needs either command or url")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise PydanticCustomError("files.url_scheme_invalid", "needs an http or https url")
        return self


def read_servers(settings: ChatSettings, builtin: Collection[str] = ()) -> dict[str, ServerSpec]:
    """The file's enabled servers by name. `builtin` names are reserved."""
    file, entries, path = _entries(settings)
    specs = {name: file.model(ServerSpec, entry, (*path, name)) for name, entry in entries.items()}
    enabled = {name: spec for name, spec in specs.items() if not spec.disabled}
    if taken := next((name for name in enabled if name in builtin), None):
        raise file.error("files.server_name_reserved", (*path, taken))
    return enabled


def listed_names(settings: ChatSettings) -> set[str]:
    """The names of all servers in the file, disabled ones too."""
    _, entries, _ = _entries(settings)
    return set(entries)


def _entries(settings: ChatSettings) -> tuple[JsonFile, dict[str, Any], FieldPath]:
    """The wrapper `mcpServers`, which other clients use, is optional."""
    file = JsonFile(settings.servers_file, required=settings.chie_servers_file is not None)
    wrapped = isinstance(file.content, dict) and "mcpServers" in file.content
    path: FieldPath = ("mcpServers",) if wrapped else ()
    entries = file.content["mcpServers"] if wrapped else file.content
    if not isinstance(entries, dict):
        raise file.error("files.servers_not_object", path)
    return file, entries, path
