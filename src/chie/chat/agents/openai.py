"""A model behind the OpenAI SDK that uses MCP tools."""

from typing import ClassVar

from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.agents.tools import AgentTools
from chie.chat.models.openai import OpenAIModel


class OpenAIAgent(ModelAgent):
    default_name: ClassVar[str] = "Assistant"
    default_description: ClassVar[str] = "Answers with the help of tools."
    default_prompt: ClassVar[str] = TOOLS_PROMPT

    def __init__(self, profile: Profile, model: OpenAIModel, tools: AgentTools, *, rounds: int = 10) -> None:
        super().__init__(profile, model, tools, rounds=rounds)
