"""`agents.json`: agents that an operator adds without writing code."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from chie.chat.agents.profile import Profile
from chie.chat.json_file import JsonFile
from chie.chat.settings import ChatSettings


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
    system_prompt: str | None = None
    servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] = ("*",)
    approved_tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class WantedAgent:
    kind: str
    profile: Profile


def read_agents(settings: ChatSettings, *, kinds: set[str], servers: set[str]) -> list[WantedAgent]:
    """The file's agents in its order; each names a kind and servers that exist."""
    file = JsonFile(settings.agents_file, required=settings.chie_agents_file is not None)
    wrapped = isinstance(file.content, dict)
    for key in file.content if wrapped else ():
        if key != "agents":
            raise file.unknown((key,))
    entries: Any = file.content.get("agents", []) if wrapped else file.content
    place = ("agents",) if wrapped else ()
    if not isinstance(entries, list):
        raise file.fault(place, "must be a list of agents.")
    wanted: dict[str, WantedAgent] = {}
    for index, entry in enumerate(entries):
        agent = _read_agent(file, entry, (*place, index), kinds, servers)
        if agent.profile.id in wanted:
            raise file.fault((*place, index, "id"), "is the id of an earlier agent too. Give each its own.")
        wanted[agent.profile.id] = agent
    return list(wanted.values())


def _read_agent(
    file: JsonFile,
    entry: object,
    place: tuple[int | str, ...],
    kinds: set[str],
    servers: set[str],
) -> WantedAgent:
    known = file.model(AgentEntry, entry, place)
    if known.kind not in kinds:
        raise file.fault((*place, "kind"), f"must be one of {', '.join(sorted(kinds))}.")
    for index, name in enumerate(known.servers or ()):
        if name not in servers:
            raise file.fault(
                (*place, "servers", index),
                f"must be one of {', '.join(sorted(servers))}; add others to servers.json.",
            )
    fields = known.model_dump(exclude={"kind", "api_key"})
    key = known.api_key.get_secret_value() if known.api_key else None
    return WantedAgent(known.kind, Profile(**fields, api_key=key))
