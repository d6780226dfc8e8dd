"""The errors of this module: Chie's own, with what a client needs to decide whether to call again."""

from typing import Any

from chie import errors
from chie.messages.catalogue import Message, Param


class KBError(errors.ChieError):
    """`aws_code` is AWS's error code or the exception's name; AWS support asks for `request_id`."""

    def __init__(
        self,
        code: str | Message,
        /,
        *,
        aws_code: str | None = None,
        retryable: bool = False,
        request_id: str | None = None,
        **params: Param,
    ) -> None:
        super().__init__(code, **params)
        self.aws_code = aws_code or type(self).__name__
        self.retryable = retryable
        self.request_id = request_id

    def details(self) -> dict[str, Any]:
        return {
            **super().details(),
            "aws_code": self.aws_code,
            "retryable": self.retryable,
            "request_id": self.request_id,
        }


class ValidationError(KBError, errors.ValidationError, ValueError):
    """Shown to the caller; nothing was sent."""


class AuthenticationError(KBError, errors.AuthenticationError):
    """Shown to the caller; the owner of the AWS credentials fixes it."""


class NotFoundError(KBError, errors.NotFoundError):
    """Shown to the caller; the operator corrects BEDROCK_KB_ID."""


class ServiceError(KBError, errors.ServiceError):
    """Shown to the caller, who may call again if `retryable` is true."""


class ConfigurationError(errors.ConfigurationError, ValueError):
    """A variable is missing or wrong. It is a ValueError, too, as `load_config` promises."""
