"""Claude with MCP tools through Anthropic's own API."""

from dataclasses import replace
from typing import ClassVar

from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.endpoint import AGENTS_FILE_FIELDS, Endpoint
from chie.messages.catalogue import Message
from chie_agent_adk.model import DEFAULT_URL, SETTING_NAMES, AnthropicModel


class ADKAgent(ModelAgent):
    default_name: ClassVar[str | Message] = Message("agents.adk_name")
    default_description: ClassVar[str | Message] = Message("agents.adk_description")
    default_prompt: ClassVar[str] = TOOLS_PROMPT


def create_model(name: str, endpoint: Endpoint, timeout: float) -> AnthropicModel:
    return AnthropicModel(name, endpoint, timeout=timeout)


def create_agent(profile: Profile, dependencies: AgentDependencies) -> ADKAgent:
    settings = dependencies.settings
    dependencies.offer_anthropic(create_model)
    common_key = settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None
    # `ANTHROPIC_API_KEY` is never sent to an agent's own `base_url`.
    key = profile.api_key if profile.base_url else profile.api_key or common_key
    own_key = replace(SETTING_NAMES, api_key=AGENTS_FILE_FIELDS.api_key) if profile.api_key else SETTING_NAMES
    url = profile.base_url or settings.anthropic_base_url or DEFAULT_URL
    model = AnthropicModel(
        profile.model or settings.chie_anthropic_model,
        Endpoint(url, key, settings=AGENTS_FILE_FIELDS if profile.base_url else own_key),
        timeout=settings.chie_model_timeout,
    )
    model.vision = profile.vision
    model.context = profile.context
    return ADKAgent(profile, model, dependencies.tools(profile), max_rounds=settings.chie_tool_rounds)
