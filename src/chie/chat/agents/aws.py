"""Claude on Amazon Bedrock with MCP tools. It needs only environment variables, so it also runs on Lambda."""

import os
from pathlib import Path
from typing import ClassVar

from chie.chat.agents.dependencies import AgentTools
from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.bedrock import BedrockModel
from chie.messages.catalogue import Message

DEFAULT_MODEL = "global.anthropic.claude-sonnet-5"

_CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


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
        if problem is None and not self._configured and not _has_credentials():
            return Message("agents.aws_credentials_missing")
        return problem


def _has_credentials() -> bool:
    """Checked without boto3, which is slow to import and would use the network."""
    files = (
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
        os.environ.get("AWS_CONFIG_FILE", "~/.aws/config"),
    )
    return any(map(os.environ.get, _CREDENTIAL_VARIABLES)) or any(Path(file).expanduser().is_file() for file in files)
