"""What agents are built from: settings, model endpoints and tools. Plug-ins get the same as the built-in agents."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.context_budget import text_tokens
from chie.chat.agents.profile import Profile
from chie.chat.models.anthropic_provider import AnthropicProvider, ModelBuilder
from chie.chat.models.bedrock_provider import BedrockProvider
from chie.chat.models.catalogue import ModelCatalogue
from chie.chat.models.endpoint import AGENTS_FILE_FIELDS, OPENAI_VARIABLES
from chie.chat.models.environment_endpoints import environment_providers
from chie.chat.models.local_endpoint import LocalEndpoint
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.models.openai_provider import OpenAIProvider
from chie.chat.models.provider import EndpointSpec, ModelProvider
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.servers_file import FETCH
from chie.chat.toolbox.tool import Tool, Toolset
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.wrappers import AllowedTools, ApprovedTools, TruncatedResults
from chie.messages.catalogue import Message
from chie.setup.local_servers import urls_on


@dataclass(frozen=True, kw_only=True)
class AgentTools:
    """The part of the toolbox that one agent may use. With `required`, it needs at least one of its servers.

    The `substitute` is used as long as none of them has offered a tool. With `with_added` the servers that an admin
    added in the page are among them.
    """

    toolbox: Toolbox
    servers: tuple[str, ...]
    tools: tuple[str, ...] = ("*",)
    approved: tuple[str, ...] = ()
    result_limit: int = 20_000
    required: bool = False
    substitute: str | None = None
    with_added: bool = False

    @property
    def server_names(self) -> tuple[str, ...]:
        return (*self.servers, *self.toolbox.added_names) if self.with_added else self.servers

    async def open(self) -> Toolset:
        """Connects the servers that are not connected yet."""
        await self.toolbox.refresh()  # the names of added servers are known after it
        await self.toolbox.initialize_servers(self.server_names)
        offered = self.toolbox.toolset(self.server_names)
        if self.substitute and not offered.tools():
            await self.toolbox.initialize_servers([self.substitute])
            offered = self.toolbox.toolset([self.substitute])
        return TruncatedResults(ApprovedTools(AllowedTools(offered, self.tools), self.approved), self.result_limit)

    def tokens(self) -> int | None:
        """About how many the tools take in every request; None as long as no server is connected. Those in this process
        are connected meanwhile."""
        self.toolbox.start_builtin(self.server_names)
        offered = AllowedTools(self.toolbox.toolset(self.server_names), self.tools).tools()
        return sum(_tokens(tool) for tool in offered if tool.for_model) or None

    def notice(self) -> str:
        """For the system prompt: the servers that are unavailable now."""
        states = [state for state in self.toolbox.states() if state.name in self.server_names]
        down = [state.name for state in states if state.is_down or state.state == "connecting"]
        if not down or self.substitute:
            return ""
        return (
            f"These tool servers are not available now: {', '.join(down)}. If the question needs them, say so plainly; "
            "the servers page shows the user why."
        )

    def missing(self) -> Message | None:
        """Why the agent cannot be used, if all servers it requires are unavailable."""
        states = {state.name: state for state in self.toolbox.states()}
        known = [states[name] for name in self.servers if name in states]
        if not self.required or self.substitute or not all(state.is_down for state in known):
            return None
        return next((state.error for state in known), None) or self._how_to_add()

    def _how_to_add(self) -> Message:
        if self.servers == (FETCH,):
            return Message("agents.fetch_server_required")
        return Message("agents.servers_required", servers=self.servers)


def _tokens(tool: Tool) -> int:
    return text_tokens(f"{tool.name} {tool.description} {json.dumps(tool.schema, ensure_ascii=False)}")


class AgentDependencies:
    """The `default_servers` are used by every agent whose profile names no servers."""

    def __init__(self, settings: ChatSettings, toolbox: Toolbox, default_servers: Sequence[str]) -> None:
        self.settings = settings
        self.toolbox = toolbox
        self.default_servers = tuple(default_servers)
        self._endpoints: dict[tuple[str, str | None], OpenAIEndpoint] = {}
        self._local = LocalEndpoint(urls_on(settings.chie_model_host))
        self._anthropic: ModelBuilder | None = None
        common = self.endpoint(Profile(id="common"))
        self.catalogue = ModelCatalogue(
            environment_providers(settings, common, lambda: self._anthropic), self._stored_provider
        )

    def offer_anthropic(self, build: ModelBuilder) -> None:
        """Called by the plug-in that has the adapter of Anthropic's SDK, so that every agent can use it."""
        self._anthropic = build

    def tools(self, profile: Profile) -> AgentTools:
        return AgentTools(
            toolbox=self.toolbox,
            servers=self.default_servers if profile.servers is None else profile.servers,
            tools=profile.tools,
            approved=(*self.settings.chie_approved_tools, *profile.approved_tools),
            result_limit=self.settings.chie_tool_result_limit,
            required=bool(profile.servers),
            with_added=profile.servers is None,
        )

    def endpoint(self, profile: Profile) -> OpenAIEndpoint:
        """One object per URL and key. `OPENAI_API_KEY` is never sent to an agent's own `base_url`."""
        default_url, default_key = self.settings.model_url, self.settings.openai_api_key
        if profile.base_url:
            endpoint = OpenAIEndpoint(profile.base_url, profile.api_key, settings=AGENTS_FILE_FIELDS)
        elif profile.api_key:
            settings = replace(OPENAI_VARIABLES, api_key=AGENTS_FILE_FIELDS.api_key)
            endpoint = OpenAIEndpoint(default_url, profile.api_key, settings=settings)
        elif self.settings.discovers_model:
            return self._local
        else:
            endpoint = OpenAIEndpoint(default_url, default_key.get_secret_value() if default_key else None)
        return self._endpoints.setdefault((endpoint.url, endpoint.api_key), endpoint)

    def _stored_provider(self, spec: EndpointSpec) -> ModelProvider:
        timeout = self.settings.chie_model_timeout
        match spec.kind:
            case "openai":
                return OpenAIProvider(spec, timeout=timeout)
            case "anthropic":
                return AnthropicProvider(spec, lambda: self._anthropic, timeout=timeout)
            case "bedrock":
                return BedrockProvider(spec, timeout=timeout)


AgentBuilder = Callable[[Profile, AgentDependencies], BaseAgent]


@dataclass(frozen=True)
class AgentSpec:
    """An agent that is yet to be built."""

    profile: Profile
    build: AgentBuilder

    def create(self, dependencies: AgentDependencies) -> BaseAgent:
        return self.build(self.profile, dependencies)
