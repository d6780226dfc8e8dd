"""A model server's URL and key, and the errors that name the settings behind them."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from chie.chat.models.errors import ContextError, ModelError, ReasoningError
from chie.chat.models.model_parameters import in_words
from chie.chat.models.provider_error import UNKNOWN, ProviderError
from chie.errors import ConfigurationError
from chie.http.values import is_header_value, is_http_url
from chie.messages.catalogue import Message, Param


@dataclass(frozen=True)
class SettingNames:
    """How error messages refer to the settings of an endpoint. Amazon Bedrock has a region for a URL, and a profile or
    keys for a key."""

    url: str | Message
    api_key: str | Message
    model: str | Message


OPENAI_VARIABLES = SettingNames("`OPENAI_BASE_URL`", "`OPENAI_API_KEY`", "`CHIE_MODEL`")
ANTHROPIC_VARIABLES = SettingNames("`ANTHROPIC_BASE_URL`", "`ANTHROPIC_API_KEY`", "`CHIE_ANTHROPIC_MODEL`")
BEDROCK_VARIABLES = SettingNames("`AWS_REGION`", Message("models.aws_credentials"), "`CHIE_AWS_MODEL`")
AGENTS_FILE_FIELDS = SettingNames(
    Message("models.agents_file_field", field="base_url"),
    Message("models.agents_file_field", field="api_key"),
    Message("models.agents_file_field", field="model"),
)

_CAUSES_BY_STATUS = {400: "request", 401: "key", 402: "quota", 403: "forbidden", 404: "model", 413: "context"}
_CAUSES_BY_STATUS[422] = "request"  # vLLM and Mistral, for a field that they do not take
_CAUSES_BY_STATUS |= dict.fromkeys((429, 529), "rate")  # 529 is Anthropic's "overloaded"
_CODES = {
    "context": "models.conversation_too_long",
    "filter": "models.question_refused",
    "forbidden": "models.key_forbidden",
    "images": "models.images_unsupported",
    "key": "models.key_rejected",
    "model": "models.model_not_found",
    "parameter": "models.parameter_refused",
    "quota": "models.quota_exceeded",
    "rate": "models.rate_limited",
    "reasoning": "models.reasoning_refused",
    "request": "models.request_rejected",
    "tools": "models.tools_unsupported",
}


class Endpoint:
    def __init__(self, url: str, api_key: str | None = None, *, settings: SettingNames = OPENAI_VARIABLES) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.settings = settings

    @property
    def host(self) -> str:
        """Host and port alone: the rest of a URL may hold a password."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def is_local(self) -> bool:
        return urlsplit(self.url).hostname in ("127.0.0.1", "::1", "localhost", "host.docker.internal")

    def validate(self) -> None:
        """HTTP clients raise different errors for invalid URLs and headers; check up front. Never shows the key."""
        if not is_http_url(self.url):
            raise ConfigurationError("models.url_invalid", url=self.url, setting=self.settings.url)
        if self.api_key and not is_header_value(self.api_key):
            raise ConfigurationError("models.key_invalid", setting=self.settings.api_key)

    def unreachable(self, error: BaseException) -> ModelError:
        code = "models.local_server_unreachable" if self.is_local else "models.server_unreachable"
        return ModelError(code, url=self.url, error=type(error).__name__, setting=self.settings.url)

    def timed_out(self, seconds: float) -> ModelError:
        return ModelError("models.timeout", url=self.url, seconds=f"{seconds:g}")

    def interrupted(self) -> ModelError:
        return ModelError("models.connection_broken", url=self.url)

    def failed(
        self,
        status: int,
        model: str | None = None,
        *,
        reported: str | int | None = None,
        error: ProviderError = UNKNOWN,
        model_setting: str | Message | None = None,
    ) -> ModelError:
        """For an HTTP status, and what the body says; `reported` is the server's own error code, shown instead.
        `model_setting` is where the model comes from if it is not a setting of the endpoint."""
        by_status = _CAUSES_BY_STATUS.get(status, "")
        cause = by_status if by_status == "rate" and error.cause == "context" else error.cause or by_status
        code = _CODES.get(cause, "models.server_failed")
        if code == "models.model_not_found" and not model:
            code = "models.path_not_found"
        if code == "models.rate_limited" and error.wait is not None:
            code = "models.rate_limited_for"
        if error.parameter:
            words = in_words(error.parameter)
            return ModelError(code, parameter=words, model=model or "?", status=reported or status)
        params: dict[str, Param] = {"url": self.url, "status": reported or status}
        params |= self._params(model or "", error, model_setting or self.settings.model).get(code, {})
        if code == _CODES["context"]:
            return ContextError(code, limit=error.limit, used=error.used, **params)
        if code == _CODES["reasoning"]:
            return ReasoningError(code, **params)
        return ModelError(code, **params)

    def _params(self, model: str, error: ProviderError, model_setting: str | Message) -> "dict[str, dict[str, Param]]":
        """Those that only some of the codes have."""
        names = self.settings
        key: dict[str, Param] = {"setting": names.api_key}
        named: dict[str, Param] = {"model": model or "?"}
        return {
            **dict.fromkeys(("models.key_rejected", "models.key_forbidden", "models.quota_exceeded"), key),
            **dict.fromkeys(("models.images_unsupported", "models.reasoning_refused"), named),
            "models.path_not_found": {"setting": names.url},
            "models.model_not_found": {"model": model, "model_setting": model_setting, "url_setting": names.url},
            "models.rate_limited_for": {"seconds": error.wait or 0},
        }
