"""Claude on Amazon Bedrock, with MCP tools. Needs nothing but the environment, so it runs on Lambda too."""

import os
from pathlib import Path
from typing import ClassVar

from chie.chat.agents.model_agent import TOOLS_PROMPT, ModelAgent
from chie.chat.agents.profile import Profile
from chie.chat.agents.tools import AgentTools
from chie.chat.models.bedrock import BedrockModel

DEFAULT_MODEL = "global.anthropic.claude-sonnet-5"

_SIGNS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


class AWSAgent(ModelAgent):
    """`configured` says that the operator chose this agent, whatever signs of credentials there are."""

    default_name: ClassVar[str] = "Claude on AWS"
    default_description: ClassVar[str] = "Claude on Amazon Bedrock, with the house's tools."
    default_prompt: ClassVar[str] = TOOLS_PROMPT

    def __init__(
        self, profile: Profile, model: BedrockModel, tools: AgentTools, *, rounds: int = 10, configured: bool = False
    ) -> None:
        super().__init__(profile, model, tools, rounds=rounds)
        self._configured = configured

    async def _missing(self) -> str | None:
        missing = await super()._missing()
        if missing is None and not self._configured and not _credentials_in_sight():
            return (
                "No AWS credentials are in sight. Set AWS_PROFILE, or run `aws configure`; where a role gives them, "
                "set CHIE_AWS_MODEL."
            )
        return missing


def _credentials_in_sight() -> bool:
    """Looked for without boto3, which loads slowly and would ask the network."""
    files = (
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
        os.environ.get("AWS_CONFIG_FILE", "~/.aws/config"),
    )
    return any(map(os.environ.get, _SIGNS)) or any(Path(file).expanduser().is_file() for file in files)
