"""What can go wrong between us and n8n, each error with a typed context.

    ServiceError ── ApiError            n8n refused or failed; carries its status and its own sentence
                    ├── RefusedKeysError    it does not know a key that was sent; nothing was stored
                    ├── UnansweredError     no answer came: a write may have arrived or not
                    └── UnfinishedError     the workflow was stored, and a later step failed
    NotFoundError                       n8n has no such thing, or hides it from this key
    ValidationError                     an argument or a file is wrong; n8n was not asked

Ids, node names and names of keys may stand in a message, because the caller needs them to act; values never do.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chie import errors

_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


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
    """Shown to the caller: n8n's own sentence, its status and what to do."""

    def __init__(self, message: str, status_code: int | None = None, context: ApiErrorContext | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | {"error_type": "ApiError"} | _shown(self.context)


class RefusedKeysError(ApiError):
    """`where` is the part of the body that n8n refused, `keys` those it named; old versions name none."""

    def __init__(self, message: str, context: ApiErrorContext, *, where: str, keys: Sequence[str]) -> None:
        super().__init__(message, context.status_code, context)
        self.where = where
        self.keys = frozenset(keys)


class UnansweredError(ApiError):
    """Shown to the caller, who must look before trying again; `fact` is the message without that advice."""

    def __init__(self, fact: str, context: ApiErrorContext) -> None:
        super().__init__(f"{fact} It may have been done all the same: look before you try again.", context=context)
        self.fact = fact


class UnfinishedError(ApiError):
    """Shown to the caller: what was done before the failure, so that nobody does it twice."""

    def __init__(self, message: str, cause: errors.ChieError, steps: Sequence[str]) -> None:
        status, context = (cause.status_code, cause.context) if isinstance(cause, ApiError) else (None, None)
        super().__init__(message, status, context)
        self.steps = list(steps)

    def details(self) -> dict[str, Any]:
        return super().details() | {"steps": self.steps}


class NotFoundError(errors.NotFoundError):
    """Shown to the caller; n8n says the same of what this key may not see."""

    def __init__(self, message: str, context: NotFoundErrorContext | None = None) -> None:
        super().__init__(message)
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | _shown(self.context)


class ValidationError(errors.ValidationError):
    """Shown to the caller, who mends the argument or the file and calls again."""

    def __init__(self, message: str, context: ValidationErrorContext | None = None) -> None:
        super().__init__(message)
        self.context = context

    def details(self) -> dict[str, Any]:
        return super().details() | _shown(self.context)


def named(kind: str, identifier: str) -> str:
    """`Workflow 'abc123'`; what does not look like an id is not repeated."""
    return f"{kind} '{identifier}'" if _ID.fullmatch(identifier) else kind


def _shown(context: ApiErrorContext | NotFoundErrorContext | ValidationErrorContext | None) -> dict[str, Any]:
    if context is None:
        return {}
    return {"context": {name: value for name, value in asdict(context).items() if value is not None}}
