"""What an operator sets for this room, read from the environment and a `.env` file."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.errors import ConfigurationError
from chie.settings import load

SearchType = Literal["HYBRID", "SEMANTIC"]

DEFAULT_REGION = "ap-northeast-1"
DEFAULT_TIMEOUT = 120.0


class KBSettings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore")

    aws_region: str = Field(default=DEFAULT_REGION, description="Region of the knowledge base.")
    aws_profile: str | None = Field(
        default=None, description="Profile of `~/.aws/config` to sign with. It wins over keys in the environment."
    )
    bedrock_kb_id: str | None = Field(
        default=None, description="Id of the knowledge base: up to ten letters and digits, not its ARN. Required."
    )
    bedrock_model_arn: str | None = Field(
        default=None, description="ARN of the model or inference profile that writes the answers. Required."
    )
    bedrock_search_type: SearchType | None = Field(
        default=None, description="`HYBRID` or `SEMANTIC` for calls that do not choose; else Bedrock chooses."
    )
    bedrock_rerank_model_arn: str | None = Field(
        default=None, description="ARN of a reranking model that puts the passages in order. It costs extra."
    )
    bedrock_guardrail_id: str | None = Field(default=None, description="Guardrail that every answer passes.")
    bedrock_guardrail_version: str = Field(default="DRAFT", description="Version of that guardrail.")
    bedrock_kb_scores: bool = Field(
        default=False, description="`1` gives the citations of `kb_answer` scores, at the cost of a second search."
    )
    bedrock_kb_timeout: float = Field(
        default=DEFAULT_TIMEOUT, gt=0, description="Seconds to wait for Bedrock before giving up."
    )

    @model_validator(mode="before")
    @classmethod
    def _blank_is_unset(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if not isinstance(value, str) or value.strip()}


@dataclass(frozen=True)
class KBConfig:
    """Which knowledge base, which model, and how they are asked."""

    aws_region: str
    kb_id: str
    model_arn: str
    profile: str | None = None
    search_type: SearchType | None = None
    rerank_model_arn: str | None = None
    guardrail_id: str | None = None
    guardrail_version: str = "DRAFT"
    scores: bool = False
    timeout: float = DEFAULT_TIMEOUT


def load_config() -> KBConfig:
    """The configuration of this process; ValueError names every variable that is missing, or one that is wrong."""
    try:
        settings = load(KBSettings)
    except ConfigurationError as error:
        raise ValueError(error.message) from error
    if settings.bedrock_kb_id is None or settings.bedrock_model_arn is None:
        raise ValueError(f"not configured: {', '.join(_missing(settings))}")
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
    )


def _missing(settings: KBSettings) -> list[str]:
    required = {"BEDROCK_KB_ID": settings.bedrock_kb_id, "BEDROCK_MODEL_ARN": settings.bedrock_model_arn}
    return [name for name, value in required.items() if value is None]
