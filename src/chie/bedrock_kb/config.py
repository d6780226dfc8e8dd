"""The configuration of this module, read from the environment and a `.env` file."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chie import errors
from chie.bedrock_kb.errors import ConfigurationError
from chie.settings import load

SearchType = Literal["HYBRID", "SEMANTIC"]
ToolName = Literal["kb_answer", "kb_search"]

DEFAULT_REGION = "ap-northeast-1"
DEFAULT_TIMEOUT = 120.0


class KBSettings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore")

    aws_region: str = Field(default=DEFAULT_REGION, description="Region of the knowledge base.")
    aws_profile: str | None = Field(
        default=None,
        description="Profile of `~/.aws/config` to sign with. It takes precedence over keys in the environment.",
    )
    bedrock_kb_id: str | None = Field(
        default=None, description="Id of the knowledge base: up to ten letters and digits, not its ARN. Required."
    )
    bedrock_model_arn: str | None = Field(
        default=None, description="ARN of the model or inference profile that writes the answers. Required."
    )
    bedrock_search_type: SearchType | None = Field(
        default=None, description="Default search type, `HYBRID` or `SEMANTIC`; otherwise Bedrock chooses."
    )
    bedrock_rerank_model_arn: str | None = Field(
        default=None, description="ARN of a model that reranks the passages, at extra cost."
    )
    bedrock_guardrail_id: str | None = Field(default=None, description="Id of the guardrail applied to every answer.")
    bedrock_guardrail_version: str = Field(default="DRAFT", description="Version of that guardrail.")
    bedrock_kb_tools: Annotated[tuple[ToolName, ...] | None, NoDecode] = Field(
        default=None,
        description="Tools to offer, separated by commas: `kb_answer`, `kb_search`. By default `chie serve` has both, "
        "and the stand-alone server `kb_answer` alone.",
    )
    bedrock_kb_scores: bool = Field(
        default=True,
        description="Scores for the citations of `kb_answer`. Bedrock sends none, so each answer is accompanied by one "
        "`Retrieve` call, which AWS bills; `0` saves it.",
    )
    bedrock_kb_timeout: float = Field(
        default=DEFAULT_TIMEOUT, gt=0, description="Read timeout for Bedrock, in seconds."
    )

    @field_validator("bedrock_kb_tools", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) or None if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _blank_is_unset(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if not isinstance(value, str) or value.strip()}


@dataclass(frozen=True)
class KBConfig:
    """Which knowledge base and model to call, and how."""

    aws_region: str
    kb_id: str
    model_arn: str
    profile: str | None = None
    search_type: SearchType | None = None
    rerank_model_arn: str | None = None
    guardrail_id: str | None = None
    guardrail_version: str = "DRAFT"
    scores: bool = True
    timeout: float = DEFAULT_TIMEOUT
    tools: tuple[ToolName, ...] | None = None


def load_config() -> KBConfig:
    """The configuration of this process. The ConfigurationError, a ValueError, names every missing variable."""
    try:
        settings = load(KBSettings)
    except errors.ConfigurationError as error:
        raise ConfigurationError(error.reason) from error
    if settings.bedrock_kb_id is None or settings.bedrock_model_arn is None:
        raise ConfigurationError("bedrock_kb.not_configured", variables=_missing(settings))
    return KBConfig(
        aws_region=settings.aws_region,
        kb_id=settings.bedrock_kb_id,
        model_arn=settings.bedrock_model_arn,
        profile=settings.aws_profile,
        search_type=settings.bedrock_search_type,
        rerank_model_arn=settings.bedrock_rerank_model_arn,
        guardrail_id=settings.bedrock_guardrail_id,
        guardrail_version=settings.bedrock_guardrail_version,
        scores=settings.bedrock_kb_scores,
        timeout=settings.bedrock_kb_timeout,
        tools=settings.bedrock_kb_tools,
    )


def _missing(settings: KBSettings) -> list[str]:
    required = {"BEDROCK_KB_ID": settings.bedrock_kb_id, "BEDROCK_MODEL_ARN": settings.bedrock_model_arn}
    return [name for name, value in required.items() if value is None]
