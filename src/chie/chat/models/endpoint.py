"""A model server's URL and key, and the errors that name the settings behind them."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from chie.chat.models.errors import ModelError
from chie.errors import ConfigurationError
from chie.http.values import is_header_value, is_http_url
from chie.messages.catalogue import Message


@dataclass(frozen=True)
class SettingNames:
    """How error messages refer to the settings of an endpoint."""

    url: str | Message
    api_key: str | Message
    model: str | Message


OPENAI_VARIABLES = SettingNames("`OPENAI_BASE_URL`", "`OPENAI_API_KEY`", "`CHIE_MODEL`")
AGENTS_FILE_FIELDS = SettingNames(
    Message("models.agents_file_field", field="base_url"),
    Message("models.agents_file_field", field="api_key"),
    Message("models.agents_file_field", field="model"),
)

_CODES_BY_STATUS = {
    400: "models.request_rejected",
    413: "models.conversation_too_long",
    429: "models.rate_limited",
    529: "models.rate_limited",  # Anthropic's "overloaded"
}


class Endpoint:
    def __init__(self, url: str, api_key: str | None = None, *, settings: SettingNames = OPENAI_VARIABLES) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.settings = settings

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

    def failed(self, status: int, model: str | None = None, *, reported: str | int | None = None) -> ModelError:
        """For an HTTP status; `reported` is the server's own error code, shown instead where there is one."""
        url, names, shown = self.url, self.settings, reported or status
        if status in (401, 403):
            code = "models.key_rejected" if status == 401 else "models.key_forbidden"
            return ModelError(code, url=url, status=shown, setting=names.api_key)
        if status == 404 and model:
            settings = {"model_setting": names.model, "url_setting": names.url}
            return ModelError("models.model_not_found", url=url, status=shown, model=model, **settings)
        if status == 404:
            return ModelError("models.path_not_found", url=url, status=shown, setting=names.url)
        return ModelError(_CODES_BY_STATUS.get(status, "models.server_failed"), url=url, status=shown)
