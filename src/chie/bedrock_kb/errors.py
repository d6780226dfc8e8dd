"""The four errors of this room: the house's own, with what a machine needs to decide whether to call again."""

from typing import Any

from chie import errors as house


class KBError(house.ChieError):
    """`code` is AWS's word for the fault, or the exception's name; `request_id` is what AWS's support asks for."""

    def __init__(
        self, message: str, *, code: str | None = None, retryable: bool = False, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.aws_code = code or type(self).__name__
        self.retryable = retryable
        self.request_id = request_id

    def details(self) -> dict[str, Any]:
        return {
            **super().details(),
            "aws_code": self.aws_code,
            "retryable": self.retryable,
            "request_id": self.request_id,
        }


class ValidationError(KBError, house.ValidationError, ValueError):
    """Shown to the caller, before anything is sent."""


class AuthenticationError(KBError, house.AuthenticationError):
    """Shown to the caller, for whoever owns the AWS credentials."""


class NotFoundError(KBError, house.NotFoundError):
    """Shown to the caller, for whoever set BEDROCK_KB_ID."""


class ServiceError(KBError, house.ServiceError):
    """Shown to the caller, who may call again where `retryable` says so."""
