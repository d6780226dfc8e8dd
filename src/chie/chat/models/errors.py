"""Errors of language models."""

from chie.errors import ServiceError
from chie.messages.catalogue import Param


class ModelError(ServiceError):
    """The model's server is unreachable, returns an error or breaks off."""


class ContextError(ModelError):
    """The conversation is too long for the model, whose context has `limit` tokens; it has `used`, if that is known."""

    def __init__(self, code: str, *, limit: int | None = None, used: int | None = None, **params: Param) -> None:
        super().__init__(code, **params)
        self.limit = limit
        self.used = used


class ReasoningError(ModelError):
    """The provider does not take back what its model thought: the conversation before it has changed since."""
