"""Plain chat with whatever model an OpenAI-compatible server holds: no tools, no detours."""

from typing import ClassVar

from chie.chat.agents.model_agent import ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.openai import OpenAIModel


class DefaultAgent(ModelAgent):
    default_name: ClassVar[str] = "Chat"
    default_description: ClassVar[str] = "Talks with your model directly, without tools."

    def __init__(self, profile: Profile, model: OpenAIModel) -> None:
        super().__init__(profile, model)
