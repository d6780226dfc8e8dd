"""Errors of language models."""

from chie.chat.models.model_names import display_name
from chie.errors import ServiceError
from chie.messages.catalogue import Message, Param


class ModelError(ServiceError):
    """The model's server is unreachable, returns an error or breaks off. A `model` that is the path of a file on that
    server is told by its name."""

    def __init__(self, code: str | Message, /, **params: Param) -> None:
        model = params.get("model")
        super().__init__(code, **(params | {"model": display_name(model)} if isinstance(model, str) else params))


class ContextError(ModelError):
    """The conversation is too long for the model, whose context has `limit` tokens; it has `used`, if that is known."""

    def __init__(
        self, code: str | Message, /, *, limit: int | None = None, used: int | None = None, **params: Param
    ) -> None:
        super().__init__(code, **params)
        self.limit = limit
        self.used = used


class ReasoningError(ModelError):
    """The provider does not take back what its model thought: the conversation before it has changed since."""
