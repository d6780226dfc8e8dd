"""Settings of the agents: models, tool servers and the limits of an answer."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from chie.settings import HomeSettings
from chie.setup.local_servers import LM_STUDIO, OLLAMA, THIS_MACHINE

LEAST_CONTEXT = 1_024  # tokens
OPENAI = "https://api.openai.com/v1"


class ChatSettings(HomeSettings):
    """Each field has the name of its variable, so that an error can name the variable."""

    openai_base_url: str | None = Field(
        default=None,
        description=f"URL of an OpenAI-compatible endpoint. Default: LM Studio at `{LM_STUDIO}` or Ollama at "
        f"`{OLLAMA}`, whichever responds, or OpenAI itself if `OPENAI_API_KEY` is set.",
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="API key for that endpoint; LM Studio and Ollama need none."
    )
    chie_model: str | None = Field(
        default=None, description="Model on that endpoint. Default: the first chat model that it lists."
    )
    chie_model_vision: bool | None = Field(
        default=None,
        description="Whether that model sees images. Default: as the endpoint's list of models or the model's name "
        "says; a model about which nothing is known gets none.",
    )
    chie_model_context: int | None = Field(
        default=None,
        ge=LEAST_CONTEXT,
        description="How many tokens that model reads at a time. Default: what its server says, or one of its errors.",
    )
    chie_model_host: str = Field(
        default=THIS_MACHINE,
        description="Host on which LM Studio and Ollama are looked for. In the container of the compose file it is "
        "`host.docker.internal`, the machine outside.",
    )
    anthropic_api_key: SecretStr | None = Field(default=None, description="API key of the `adk` agent.")
    anthropic_base_url: str | None = Field(default=None, description="URL of the Anthropic API, if not the public one.")
    chie_anthropic_model: str = Field(default="claude-sonnet-5", description="Model of the `adk` agent.")
    aws_region: str = Field(default="ap-northeast-1", description="AWS region of Amazon Bedrock.")
    aws_profile: str | None = Field(default=None, description="AWS profile with the credentials to use.")
    chie_aws_model: str | None = Field(
        default=None,
        description="Model or inference profile of the `aws` agent. Default: Claude Sonnet 5 through the global "
        "profile, which may run in any region; `jp.anthropic.claude-sonnet-4-6`, for example, stays in Japan. "
        "Set it if an IAM role provides the credentials, so that the agent counts as available.",
    )
    chie_servers_file: Path | None = Field(
        default=None, description="File with your MCP servers. Default: `servers.json` in `CHIE_HOME`."
    )
    chie_agents_file: Path | None = Field(
        default=None, description="File with your agents. Default: `agents.json` in `CHIE_HOME`."
    )
    chie_page_agent: str = Field(
        default="assistant",
        description="The agent that the page selects for a new conversation, if it is available; `assistant` sends its "
        "tools with every question. A request to the API that names no agent goes to `default-chat`.",
    )
    chie_prices_file: Path | None = Field(
        default=None,
        description="File with your prices of models, which go before those that come with Chie. Default: "
        "`prices.json` in `CHIE_HOME`.",
    )
    chie_monthly_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Tokens that each user may use in a month (of UTC), unless an admin sets another limit on the "
        "page. Default: no limit.",
    )
    chie_monthly_cost: float | None = Field(
        default=None, ge=0, le=1e9, description="The same in US dollars, for models whose price is known."
    )
    chie_team_monthly_tokens: int | None = Field(
        default=None, ge=0, description="Tokens that all users together may use in a month. Default: no limit."
    )
    chie_team_monthly_cost: float | None = Field(default=None, ge=0, le=1e9, description="The same in US dollars.")
    chie_approved_tools: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=tuple,
        description="Destructive tools that run without approval: names or patterns, separated by commas.",
    )
    chie_model_timeout: float = Field(
        default=180, gt=0, description="Seconds without data from a model before an answer fails."
    )
    chie_tool_timeout: float = Field(default=60, gt=0, description="Time limit of a tool call in seconds.")
    chie_tool_rounds: int = Field(default=10, ge=1, description="Maximum rounds of tool calls in one answer.")
    chie_tool_result_limit: int = Field(
        default=20_000, ge=200, description="Maximum characters of a tool result; longer ones are truncated."
    )
    chie_titles: bool = Field(
        default=True,
        description="Whether the agent's model names a conversation after the first answer. Without it, or if that "
        "fails, the first words of the question are the title.",
    )
    chie_answer_limit: int = Field(
        default=400_000,
        ge=1_000,
        description="Maximum characters of one answer; it ends there, for example if a model repeats itself.",
    )

    @field_validator("chie_approved_tools", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @property
    def model_url(self) -> str:
        if self.openai_base_url:
            return self.openai_base_url.rstrip("/")
        return OPENAI if self.openai_api_key else LM_STUDIO

    @property
    def discovers_model(self) -> bool:
        """Whether the model server is looked for on this machine."""
        return not self.openai_base_url and not self.openai_api_key

    @property
    def servers_file(self) -> Path:
        return self.chie_servers_file or self.home.expanduser() / "servers.json"

    @property
    def prices_file(self) -> Path:
        return self.chie_prices_file or self.home.expanduser() / "prices.json"

    @property
    def agents_file(self) -> Path:
        return self.chie_agents_file or self.home.expanduser() / "agents.json"
