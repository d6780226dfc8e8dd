"""Claude with MCP tools, straight from Anthropic."""

from typing import ClassVar

from chie.chat.agents.dependencies import Workshop
from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie_agent_adk.model import AnthropicModel


class ADKAgent(ModelAgent):
    default_name: ClassVar[str] = "Claude"
    default_description: ClassVar[str] = "Claude by Anthropic's own API, with the house's tools."
    default_prompt: ClassVar[str] = TOOLS_PROMPT


def create_agent(profile: Profile, workshop: Workshop) -> ADKAgent:
    settings = workshop.settings
    common = settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None
    model = AnthropicModel(
        profile.model or settings.chie_anthropic_model,
        # The operator's key goes to the operator's address alone.
        api_key=profile.api_key if profile.base_url else profile.api_key or common,
        base_url=profile.base_url or settings.anthropic_base_url,
        seconds=settings.chie_model_timeout,
    )
    return ADKAgent(profile, model, workshop.tools(profile), rounds=settings.chie_tool_rounds)
