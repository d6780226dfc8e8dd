"""An OpenAI-compatible address: is it there, and which models has it? Asked without the SDK, which loads slowly."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from chie.chat.models.base import ModelError
from chie.errors import ConfigurationError
from chie.http.values import is_header_value, is_http_url

if TYPE_CHECKING:
    import httpx2

SECONDS = 3.0
FRESH_SECONDS = 5.0

_NO_CHAT = ("embed", "whisper", "tts", "dall-e", "image", "moderation", "audio", "realtime", "transcribe", "rerank")
_CODES: dict[object, int] = {
    "context_length_exceeded": 413,
    "exceed_context_size_error": 413,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "rate_limit_exceeded": 429,
}


@dataclass(frozen=True)
class Names:
    """Where an operator set what an error speaks of."""

    address: str = "OPENAI_BASE_URL"
    key: str = "OPENAI_API_KEY"
    model: str = "CHIE_MODEL"


IN_FILE = Names("`base_url` in agents.json", "`api_key` in agents.json", "`model` in agents.json")


def require_sound(address: str, api_key: str | None, names: Names) -> None:
    """Raise what no request would survive, in the terms of whoever set it; a key itself is never shown."""
    if not is_http_url(address):
        raise ConfigurationError(
            f"{address} is not the address of a server: that has http:// or https://, a host, and a port of 65535 at "
            f"most. Correct {names.address}."
        )
    if api_key and not is_header_value(api_key):
        raise ConfigurationError(
            f"{names.key} holds what no key can: a line break, a space at its end, or letters that are not ASCII, such "
            "as full-width ones. Copy it once more."
        )


class Endpoint:
    """Shared by all agents that talk to one address, so that they ask it once."""

    def __init__(self, address: str, api_key: str | None = None, *, names: Names | None = None) -> None:
        self.address = address.rstrip("/")
        self.api_key = api_key
        self._names = names or Names()
        self._asking = asyncio.Lock()
        self._answer: list[str] | ModelError = []
        self._asked = float("-inf")

    @property
    def is_local(self) -> bool:
        """A server on this machine that refuses will not be there half a second later: asking again is of no use."""
        return urlsplit(self.address).hostname in ("127.0.0.1", "::1", "localhost")

    def require_sound(self) -> None:
        require_sound(self.address, self.api_key, self._names)

    async def models(self) -> list[str]:
        """Chat models by name, in the server's order; no older than a few seconds."""
        self.require_sound()
        async with self._asking:
            if monotonic() - self._asked > FRESH_SECONDS:
                self._answer = await self._ask()
                self._asked = monotonic()
        if isinstance(self._answer, ModelError):
            raise self._answer
        return self._answer

    async def first_model(self) -> str:
        models = await self.models()
        if not models:
            raise ModelError(
                f"The model server at {self.address} has no chat model. Load one there, or set {self._names.model}."
            )
        return models[0]

    async def _ask(self) -> list[str] | ModelError:
        """A failure is remembered too: many agents would else wait for it one after another."""
        try:
            return await self._list()
        except ModelError as error:
            return error

    async def _list(self) -> list[str]:
        import httpx2

        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        trust = not self.address.startswith("http://")  # reading all certificates would hold every stream up
        try:
            async with httpx2.AsyncClient(headers=headers, timeout=SECONDS, verify=trust) as client:
                answer = await client.get(f"{self.address}/models")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self.away(error) from error
        if answer.status_code != 200:
            raise self.refused(answer.status_code)
        return self._chat_models(answer)

    def _chat_models(self, answer: "httpx2.Response") -> list[str]:
        try:
            names = [str(entry["id"]) for entry in answer.json()["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise self.strange() from error
        return [name for name in names if not any(word in name.lower() for word in _NO_CHAT)]

    def away(self, error: BaseException) -> ModelError:
        return ModelError(
            f"No model server answers at {self.address} ({type(error).__name__}). Start it (in LM Studio: Developer, "
            f"Start Server), or set {self._names.address} to where your model is served."
        )

    def strange(self) -> ModelError:
        return ModelError(
            f"{self.address} does not answer as an OpenAI-compatible server does. Correct {self._names.address}; "
            "it usually ends in /v1."
        )

    def refused(self, status: int, model: str | None = None) -> ModelError:
        return ModelError(f"The model server at {self.address} answered {status}. {self._hint(status, model)}")

    def reported(self, codes: Iterable[object], model: str | None) -> ModelError:
        """An error that came where an answer should be, or within one. The server's own words may hold secrets."""
        for code in codes:
            status = _CODES.get(code, code)
            if isinstance(status, int) and 400 <= status < 600:
                hint = self._hint(status, model)
                return ModelError(f"The model server at {self.address} reported an error ({code}). {hint}")
        return ModelError(
            f"The model server at {self.address} reported an error, which is in Chie's log. If the conversation has "
            "become long, start a new one; if not, try again."
        )

    def _hint(self, status: int, model: str | None) -> str:
        names = self._names
        path = f"Correct {names.address}; it usually ends in /v1."
        unknown = f"Is the model {model} loaded there? Set {names.model}, or correct {names.address}."
        return {
            400: "It does not take this request: the conversation may be too long for the model, or the model "
            "may not be made for tools. Start a new conversation or choose another model.",
            401: f"Set {names.key} to a key that it knows.",
            403: f"Set {names.key} to a key that may use this model.",
            404: unknown if model else path,
            413: "The conversation is too long for it. Start a new one.",
            429: "It is busy, or the quota is used up. Wait a little, then try again.",
        }.get(status, "Try again; if it stays so, look at that server's log.")
