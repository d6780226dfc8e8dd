"""Claude on Amazon Bedrock with MCP tools. It needs only environment variables, so it also runs on Lambda."""

from typing import ClassVar

from chie.chat.agents.dependencies import AgentTools
from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.aws_client import has_aws_credentials
from chie.chat.models.bedrock import BedrockModel
from chie.messages.catalogue import Message


class AWSAgent(ModelAgent):
    """With `configured`, the operator chose this agent and it is available even if no credentials can be detected."""

    default_name: ClassVar[str | Message] = Message("agents.aws_name")
    default_description: ClassVar[str | Message] = Message("agents.aws_description")
    default_prompt: ClassVar[str] = TOOLS_PROMPT

    def __init__(
        self,
        profile: Profile,
        model: BedrockModel,
        tools: AgentTools,
        *,
        max_rounds: int = 10,
        configured: bool = False,
    ) -> None:
        super().__init__(profile, model, tools, max_rounds=max_rounds)
        self._configured = configured

    async def problem(self) -> Message | None:
        problem = await super().problem()
        if problem is None and not self._configured and not has_aws_credentials():
            return Message("agents.aws_credentials_missing")
        return problem
