"""Puts the registry together: built-in agents, plug-ins and the agents of `agents.json`."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from chie.chat.agents.agents_file import read_agents
from chie.chat.agents.base import BaseAgent
from chie.chat.agents.builtin import BUILTIN_AGENTS, FALLBACK_AGENT, KINDS
from chie.chat.agents.dependencies import AgentDependencies, AgentSpec
from chie.chat.agents.plugins import find_plugins
from chie.chat.agents.profile import Profile
from chie.chat.agents.registry import AgentFactory
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.servers_file import FETCH, FETCH_PACKAGE, ServerSpec, listed_names, read_servers
from chie.chat.toolbox.toolbox import Toolbox, create_toolbox
from chie.errors import ConfigurationError
from chie.mcp_kit.server import Server


def open_agents(
    settings: ChatSettings,
    servers: Mapping[str, Server | ConfigurationError],
    replaceable: Mapping[str, Server | ConfigurationError] | None = None,
) -> AbstractAsyncContextManager[AgentFactory]:
    """The registry of all agents; leaving it closes every connection and process that they started.

    The `replaceable` servers are for the agents that name them; an entry in `servers.json` takes the place of one.
    Raises ConfigurationError for an invalid `servers.json` or `agents.json` at once, before anything is started.
    """
    specs, listed = read_servers(settings, servers), listed_names(settings)
    kept = {name: server for name, server in (replaceable or {}).items() if name not in listed}
    toolbox = create_toolbox(settings, {**servers, **kept}, specs, reserved=listed)
    dependencies = AgentDependencies(settings, toolbox, [*servers, *_for_every_agent(specs)])
    agents = create_agents(dependencies)
    factory = AgentFactory(toolbox, agents, dependencies.catalogue, preselected=settings.chie_page_agent)
    return _opened(toolbox, factory)


def _for_every_agent(specs: Mapping[str, ServerSpec]) -> list[str]:
    """The operator's servers, but none that reads web pages: together with private data that is for agents that name
    it. One that cannot be installed would only be reported as unavailable with every question."""
    return [name for name, spec in specs.items() if name not in (FETCH, FETCH_PACKAGE) and not spec.is_unpublished]


@asynccontextmanager
async def _opened(toolbox: Toolbox, registry: AgentFactory) -> AsyncIterator[AgentFactory]:
    async with toolbox:
        try:
            yield registry
        finally:
            await registry.close()


def create_agents(dependencies: AgentDependencies) -> list[BaseAgent]:
    """Built-in agents, plug-ins, then those of `agents.json`, which may replace earlier ones; the fallback is last."""
    plugins = find_plugins(reserved=KINDS)
    specs = [
        *BUILTIN_AGENTS,
        *(AgentSpec(Profile(id=name), build) for name, build in plugins.items()),
        *read_agents(dependencies.settings, kinds=KINDS | plugins, servers=dependencies.toolbox.names),
    ]
    by_id = {spec.profile.id: spec for spec in specs}
    by_id.setdefault(FALLBACK_AGENT.profile.id, FALLBACK_AGENT)
    return [spec.create(dependencies) for spec in by_id.values()]
