"""Agents on an OpenAI-compatible endpoint: plain chat, and one that uses MCP tools."""

from typing import ClassVar

from chie.chat.agents.dependencies import AgentTools
from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.base import ChatModel
from chie.messages.catalogue import Message


class DefaultAgent(ModelAgent):
    default_name: ClassVar[str | Message] = Message("agents.default_name")
    default_description: ClassVar[str | Message] = Message("agents.default_description")

    def __init__(self, profile: Profile, model: ChatModel) -> None:
        super().__init__(profile, model)


class OpenAIAgent(ModelAgent):
    default_name: ClassVar[str | Message] = Message("agents.openai_name")
    default_description: ClassVar[str | Message] = Message("agents.openai_description")
    default_prompt: ClassVar[str] = TOOLS_PROMPT

    def __init__(self, profile: Profile, model: ChatModel, tools: AgentTools, *, max_rounds: int = 10) -> None:
        super().__init__(profile, model, tools, max_rounds=max_rounds)
