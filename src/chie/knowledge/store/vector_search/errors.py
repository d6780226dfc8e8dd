"""Translation of the errors that Google's client raises."""

import logging
from typing import Final

from chie.errors import AuthenticationError, ChieError, ConflictError, ForbiddenError, StorageError

SERVING_ROLES: Final = ("roles/vectorsearch.dataObjectWriter", "roles/vectorsearch.viewer")
ADMIN_ROLES: Final = ("roles/vectorsearch.admin",)

# gRPC reports a missing token as an unreachable server; only its message tells them apart.
MISSING_TOKEN_TEXT: Final = "Getting metadata from plugin failed"  # noqa: S105 - part of a message

logger = logging.getLogger(__name__)


def translate(error: Exception, collection: str, roles: tuple[str, ...] = SERVING_ROLES) -> ChieError:
    from google.api_core import exceptions as google
    from google.auth.exceptions import GoogleAuthError

    if isinstance(error, google.RetryError) and isinstance(error.cause, Exception):
        error = error.cause
    if isinstance(error, GoogleAuthError | google.Unauthorized) or is_missing_token(error):
        return AuthenticationError("vector_search.credentials_missing")
    if isinstance(error, google.Forbidden):
        return ForbiddenError("vector_search.permission_denied", roles=roles)
    if isinstance(error, google.Aborted):
        return ConflictError("knowledge.note_changed")
    if isinstance(error, google.NotFound):
        return StorageError("vector_search.collection_not_found", name=collection)
    logger.warning("Vector Search: %s: %s", type(error).__name__, error)
    return _service_error(error)


def _service_error(error: Exception) -> StorageError:
    from google.api_core import exceptions as google

    codes: list[tuple[type[Exception], str]] = [
        (google.TooManyRequests, "vector_search.quota_exhausted"),
        (google.DeadlineExceeded, "vector_search.timeout"),
        (google.GatewayTimeout, "vector_search.timeout"),
        (google.ServiceUnavailable, "vector_search.unreachable"),
        (google.BadRequest, "vector_search.request_rejected"),
    ]
    return StorageError(next((code for kind, code in codes if isinstance(error, kind)), "vector_search.service_failed"))


def is_missing_token(error: BaseException) -> bool:
    return MISSING_TOKEN_TEXT in str(error)
