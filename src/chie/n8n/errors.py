"""The errors of this module, each with a typed context.

    ServiceError ── ApiError             n8n rejected the request or failed; has the status and n8n's own sentence
                    ├── RejectedKeysError    n8n does not know a key that was sent; nothing was stored
                    ├── NoResponseError      no response to a write, which may have been executed or not
                    └── PartialChangeError   the workflow was stored, and a later step failed
    NotFoundError                        n8n does not have it, or hides it from this API key
    ValidationError                      an argument or a file is invalid; n8n was not called

Messages may contain ids, node names and names of keys, because the caller needs them to act; never values.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chie import errors
from chie.messages.catalogue import Message, Param


@dataclass(frozen=True, kw_only=True)
class ApiErrorContext:
    operation: str
    resource_type: str | None = None
    resource_id: str | None = None
    status_code: int | None = None
    error_details: str | None = None


@dataclass(frozen=True, kw_only=True)
class NotFoundErrorContext:
    operation: str
    resource_type: str
    resource_id: str


@dataclass(frozen=True, kw_only=True)
class ValidationErrorContext:
    field: str
    expected_type: str | None = None
    received_type: str | None = None
    constraint: str | None = None


class ApiError(errors.ServiceError):
    """Shown to the caller, with n8n's own sentence, its status and what to do."""

    def __init__(
        self,
        message: str | Message,
        status_code: int | None = None,
        context: ApiErrorContext | None = None,
        **params: Param,
    ) -> None:
        super().__init__(message, **params)
        self.status_code = status_code
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | {"error_type": "ApiError"} | _shown(self.context)


class RejectedKeysError(ApiError):
    """`part` is the rejected part of the body, `keys` are those n8n named; old versions name none."""

    def __init__(self, message: str | Message, context: ApiErrorContext, *, part: str, keys: Sequence[str]) -> None:
        super().__init__(message, context.status_code, context)
        self.part = part
        self.keys = frozenset(keys)


class NoResponseError(ApiError):
    """Shown to the caller, who must check the state in n8n before trying again."""


class PartialChangeError(ApiError):
    """Shown to the caller with the completed steps, so that they are not repeated."""

    def __init__(self, message: str | Message, cause: errors.ChieError, steps: Sequence[Message]) -> None:
        status, context = (cause.status_code, cause.context) if isinstance(cause, ApiError) else (None, None)
        super().__init__(message, status, context)
        self.steps = list(steps)

    def details(self) -> dict[str, Any]:
        return super().details() | {"steps": [str(step) for step in self.steps]}


class NotFoundError(errors.NotFoundError):
    """Shown to the caller; n8n gives the same response for things that this API key may not see."""

    def __init__(self, message: str | Message, context: NotFoundErrorContext | None = None, **params: Param) -> None:
        super().__init__(message, **params)
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | _shown(self.context)


class ValidationError(errors.ValidationError):
    """Shown to the caller, who corrects the argument or the file and calls again."""

    def __init__(self, message: str | Message, context: ValidationErrorContext | None = None, **params: Param) -> None:
        super().__init__(message, **params)
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | _shown(self.context)


def name_operation(error: errors.ChieError, operation: str, shown: Param) -> None:
    """Name the operation that the caller asked for, in the context and as `shown` in the text.

    A tool makes several requests for one call: the one that failed follows in the text, as a step.
    """
    step = error.reason.params.get("operation")
    if isinstance(error, ApiError) and isinstance(step, Message) and step != shown:
        named = Message("n8n.operation_at_step", operation=shown, step=step)
        error.reason = Message(error.code, **{**error.reason.params, "operation": named})
    if isinstance(error, ApiError):
        error.context = replace(error.context or ApiErrorContext(operation=operation), operation=operation)
    elif isinstance(error, NotFoundError) and error.context:
        error.context = replace(error.context, operation=operation)


def _shown(context: ApiErrorContext | NotFoundErrorContext | ValidationErrorContext | None) -> dict[str, Any]:
    if context is None:
        return {}
    return {"context": {name: value for name, value in asdict(context).items() if value is not None}}
