"""`agents.json`: agents that an operator adds without writing code."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from chie.chat.agents.dependencies import AgentBuilder, AgentSpec
from chie.chat.agents.profile import Profile
from chie.chat.json_file import FieldPath, JsonFile
from chie.chat.settings import LEAST_CONTEXT, ChatSettings


class AgentEntry(BaseModel):
    """One agent as the file has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: str
    name: str | None = None
    description: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    vision: bool | None = None
    context: int | None = Field(default=None, ge=LEAST_CONTEXT)
    system_prompt: str | None = None
    servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] = ("*",)
    approved_tools: tuple[str, ...] = ()


def read_agents(
    settings: ChatSettings, *, kinds: Mapping[str, AgentBuilder], servers: Collection[str]
) -> list[AgentSpec]:
    """The file's agents in its order. Raises ConfigurationError for an unknown kind or server."""
    file = JsonFile(settings.agents_file, required=settings.chie_agents_file is not None)
    entries, path = _entries(file)
    specs: dict[str, AgentSpec] = {}
    for index, value in enumerate(entries):
        entry = _read_entry(file, value, (*path, index), kinds, servers)
        if entry.id in specs:
            raise file.error("files.agent_id_duplicate", (*path, index, "id"))
        specs[entry.id] = AgentSpec(_profile(entry), kinds[entry.kind])
    return list(specs.values())


def _entries(file: JsonFile) -> tuple[list[Any], FieldPath]:
    """A list of agents, or an object whose only key is `agents`."""
    wrapped = isinstance(file.content, dict)
    for key in file.content if wrapped else ():
        if key != "agents":
            raise file.error("files.field_unknown", (key,))
    path = ("agents",) if wrapped else ()
    entries = file.content.get("agents", []) if wrapped else file.content
    if not isinstance(entries, list):
        raise file.error("files.agents_not_list", path)
    return entries, path


def _read_entry(
    file: JsonFile, value: object, path: FieldPath, kinds: Collection[str], servers: Collection[str]
) -> AgentEntry:
    entry = file.model(AgentEntry, value, path)
    if entry.kind not in kinds:
        raise file.error("files.value_not_allowed", (*path, "kind"), allowed=sorted(kinds))
    for index, name in enumerate(entry.servers or ()):
        if name not in servers:
            raise file.error("files.server_unknown", (*path, "servers", index), allowed=sorted(servers))
    return entry


def _profile(entry: AgentEntry) -> Profile:
    key = entry.api_key.get_secret_value() if entry.api_key else None
    return Profile(**entry.model_dump(exclude={"kind", "api_key"}), api_key=key)
