"""`servers.json`: MCP servers that an operator adds. Commands come only from this file, never from a request."""

import shutil
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from chie.chat.json_file import JsonFile
from chie.chat.settings import ChatSettings

FETCH = "fetch"
FETCH_PACKAGE = "mcp-server-fetch"


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
    disabled: bool = False
    approved_tools: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("approved_tools", "autoApprove", "alwaysAllow")
    )
    disabled_tools: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("disabled_tools", "disabledTools")
    )
    timeout: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_one_transport(self) -> Self:
        """The error types are codes of the message catalogue; `JsonFile` adds the line and the field."""
        if (self.command is None) == (self.url is None):
            raise PydanticCustomError("files.command_or_url", "needs either command or url")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise PydanticCustomError("files.url_scheme_invalid", "needs an http or https url")
        return self


def read_servers(settings: ChatSettings, builtin: Collection[str] = ()) -> dict[str, ServerSpec]:
    """The file's enabled servers by name, plus `fetch` if its program is installed. `builtin` names are reserved."""
    file = JsonFile(settings.servers_file, required=settings.chie_servers_file is not None)
    wrapped = isinstance(file.content, dict) and "mcpServers" in file.content
    path = ("mcpServers",) if wrapped else ()
    entries = file.content["mcpServers"] if wrapped else file.content
    if not isinstance(entries, dict):
        raise file.error("files.servers_not_object", path)
    specs = {name: file.model(ServerSpec, entry, (*path, name)) for name, entry in entries.items()}
    enabled = {name: spec for name, spec in specs.items() if not spec.disabled}
    if taken := next((name for name in enabled if name in builtin), None):
        raise file.error("files.server_name_reserved", (*path, taken))
    return enabled if FETCH in specs else _with_fetch(enabled)


def _with_fetch(specs: dict[str, ServerSpec]) -> dict[str, ServerSpec]:
    """The web-scraper's server may also be configured under the name of its package."""
    if FETCH_PACKAGE in specs:
        return {FETCH: specs[FETCH_PACKAGE]} | {n: s for n, s in specs.items() if n != FETCH_PACKAGE}
    installed = _installed(FETCH_PACKAGE)
    if installed is None:
        return specs
    return {FETCH: ServerSpec(command=installed[0], args=installed[1:], approved_tools=(FETCH,))} | specs


def _installed(package: str) -> tuple[str, ...] | None:
    same_environment = Path(sys.executable).parent / package
    if same_environment.exists():
        return (str(same_environment),)
    if found := shutil.which(package):
        return (found,)
    uvx = shutil.which("uvx")
    return (uvx, package) if uvx else None
