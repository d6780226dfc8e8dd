"""What an operator can set for the agents: models, tool servers and the limits of an answer."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from chie.settings import HomeSettings

LM_STUDIO = "http://127.0.0.1:1234/v1"
OPENAI = "https://api.openai.com/v1"


class ChatSettings(HomeSettings):
    """The fields are named as their variables are, so that an error can name the variable."""

    openai_base_url: str | None = Field(
        default=None,
        description=f"Any OpenAI-compatible endpoint. Without it: LM Studio at `{LM_STUDIO}`, "
        "or OpenAI itself when `OPENAI_API_KEY` is set.",
    )
    openai_api_key: SecretStr | None = Field(default=None, description="Key for that endpoint; LM Studio needs none.")
    chie_model: str | None = Field(
        default=None, description="Model to ask for there. Without it: the first chat model that the endpoint lists."
    )
    anthropic_api_key: SecretStr | None = Field(default=None, description="Key for the `adk` agent.")
    anthropic_base_url: str | None = Field(default=None, description="Another address of the Anthropic API.")
    chie_anthropic_model: str = Field(default="claude-sonnet-5", description="Model of the `adk` agent.")
    aws_region: str = Field(default="ap-northeast-1", description="Region of Amazon Bedrock.")
    aws_profile: str | None = Field(default=None, description="Profile whose credentials are used for AWS.")
    chie_aws_model: str | None = Field(
        default=None,
        description="Model or inference profile of the `aws` agent. Without it: Claude Sonnet 5 by the global profile, "
        "which may answer from any region; `jp.anthropic.claude-sonnet-4-6`, for one, stays in Japan. "
        "Set it also where credentials come from the machine's role, so that the agent counts as available.",
    )
    chie_servers_file: Path | None = Field(
        default=None, description="MCP servers of your own. Default: `servers.json` in `CHIE_HOME`."
    )
    chie_agents_file: Path | None = Field(
        default=None, description="Agents of your own. Default: `agents.json` in `CHIE_HOME`."
    )
    chie_approved_tools: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=tuple,
        description="Tools that run without asking, though they may destroy something: names or patterns, "
        "separated by commas.",
    )
    chie_model_timeout: float = Field(
        default=180, gt=0, description="Seconds a model may be silent before an answer is given up."
    )
    chie_tool_timeout: float = Field(default=60, gt=0, description="Seconds one tool call may take.")
    chie_tool_rounds: int = Field(default=10, ge=1, description="How often a model may call tools within one answer.")
    chie_tool_result_limit: int = Field(
        default=20_000, ge=200, description="Characters of one tool result that a model gets to read."
    )
    chie_answer_limit: int = Field(
        default=400_000,
        ge=1_000,
        description="Characters of one answer. A model that goes on, repeating itself for ever perhaps, is cut there.",
    )

    @field_validator("chie_approved_tools", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @property
    def model_address(self) -> str:
        if self.openai_base_url:
            return self.openai_base_url.rstrip("/")
        return OPENAI if self.openai_api_key else LM_STUDIO

    @property
    def servers_file(self) -> Path:
        return self.chie_servers_file or self.home.expanduser() / "servers.json"

    @property
    def agents_file(self) -> Path:
        return self.chie_agents_file or self.home.expanduser() / "agents.json"
