"""`servers.json`: the MCP servers an operator adds. Commands come from this file alone, never from a request."""

import shutil
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, model_validator

from chie.chat.json_file import JsonFile
from chie.chat.settings import ChatSettings

FETCH = "fetch"
FETCH_PACKAGE = "mcp-server-fetch"


class ServerSpec(BaseModel):
    """How one server is reached: a program that speaks on stdio, or a URL."""

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
    def _is_reachable_one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either command, for a program, or url, for a server elsewhere.")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ValueError("has a url that does not begin with http:// or https://. Correct it.")
        return self


def read_servers(settings: ChatSettings, rooms: Collection[str] = ()) -> dict[str, ServerSpec]:
    """Every server of the file that is not disabled, by name; with `fetch` added where its program is installed.

    `rooms` are names that the house has for its own.
    """
    file = JsonFile(settings.servers_file, required=settings.chie_servers_file is not None)
    wrapped = isinstance(file.content, dict) and "mcpServers" in file.content
    place = ("mcpServers",) if wrapped else ()
    entries = file.content["mcpServers"] if wrapped else file.content
    if not isinstance(entries, dict):
        raise file.fault(place, "must be an object that has a server's name for each key.")
    specs = {name: file.model(ServerSpec, entry, (*place, name)) for name, entry in entries.items()}
    wanted = {name: spec for name, spec in specs.items() if not spec.disabled}
    if taken := next((name for name in wanted if name in rooms), None):
        raise file.fault((*place, taken), "has the name of a room of the house. Give this server another.")
    return _with_fetch(wanted, disabled=FETCH in specs)


def _with_fetch(specs: dict[str, ServerSpec], *, disabled: bool) -> dict[str, ServerSpec]:
    """The web-scraper's server goes by its package's name as well."""
    if disabled:
        return specs
    if FETCH_PACKAGE in specs:
        return {FETCH: specs[FETCH_PACKAGE]} | {n: s for n, s in specs.items() if n != FETCH_PACKAGE}
    installed = _installed(FETCH_PACKAGE)
    if installed is None:
        return specs
    return {FETCH: ServerSpec(command=installed[0], args=installed[1:], approved_tools=(FETCH,))} | specs


def _installed(package: str) -> tuple[str, ...] | None:
    beside = Path(sys.executable).parent / package
    if beside.exists():
        return (str(beside),)
    if found := shutil.which(package):
        return (found,)
    uvx = shutil.which("uvx")
    return (uvx, package) if uvx else None


def how_to_get(servers: Iterable[str]) -> str:
    names = ", ".join(servers)
    install = f"Install it with pip install {FETCH_PACKAGE}, or add" if names == FETCH else "Add"
    return f"It needs the tool server {names}. {install} it to servers.json under that name."
