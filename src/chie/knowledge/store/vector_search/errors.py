"""What Google's client raises, in our words: what happened and what to do next."""

import logging
from typing import Final

from chie.errors import AuthenticationError, ChieError, ConflictError, ForbiddenError, StorageError

SERVING: Final = "roles/vectorsearch.dataObjectWriter and roles/vectorsearch.viewer"
FOUNDING: Final = "roles/vectorsearch.admin"

NO_CREDENTIALS = (
    "Google Cloud does not know who Chie is: it found no valid credentials. On your own machine run "
    "`gcloud auth application-default login`; on Cloud Run give the service a service account."
)
FORBIDDEN = (
    "Google Cloud knows Chie's account, but the account may not do this. Grant it {roles} on the project, and see that "
    "the APIs vectorsearch.googleapis.com and aiplatform.googleapis.com are enabled."
)
NO_COLLECTION = (
    "there is no Collection {name} in Vector Search. Create it with `chie knowledge init-collection`, or correct "
    "GOOGLE_CLOUD_PROJECT, VECTOR_SEARCH_LOCATION and VECTOR_SEARCH_COLLECTION."
)
QUOTA = (
    "Vector Search refuses for now, because a quota of the project is used up. Try again in a minute; if it happens "
    "often, ask for more on the console's Quotas page, under Vector Search API and Vertex AI API."
)
SLOW = (
    "Vector Search did not answer in time. What was being written may be there or not: look before you write it again."
)
UNREACHABLE = "Vector Search cannot be reached. Check this machine's network and Google Cloud's status, then try again."
REFUSED = (
    "Vector Search refused what Chie sent. The Collection may have been made for something else: "
    "`chie knowledge init-collection` compares it with what Chie needs, and the log has the service's own words."
)
FAILED = "Vector Search failed. Try again; the log has the service's own words."
CHANGED = "the note was changed by somebody else meanwhile. Read it again, then repeat the change."

# gRPC reports a token that cannot be had as a server that cannot be reached, and only its words tell them apart.
NO_TOKEN: Final = "Getting metadata from plugin failed"  # noqa: S105 - words of a message

log = logging.getLogger(__name__)


def translate(error: Exception, collection: str, roles: str = SERVING) -> ChieError:
    from google.api_core import exceptions as google
    from google.auth.exceptions import GoogleAuthError

    if isinstance(error, google.RetryError) and isinstance(error.cause, Exception):
        error = error.cause
    if isinstance(error, GoogleAuthError | google.Unauthorized) or has_no_token(error):
        return AuthenticationError(NO_CREDENTIALS)
    if isinstance(error, google.Forbidden):
        return ForbiddenError(FORBIDDEN.format(roles=roles))
    if isinstance(error, google.Aborted):
        return ConflictError(CHANGED)
    if not isinstance(error, google.NotFound):  # which leaves nothing to be looked up
        log.warning("Vector Search: %s: %s", type(error).__name__, error)
    return StorageError(_reason(error, collection))


def _reason(error: Exception, collection: str) -> str:
    from google.api_core import exceptions as google

    reasons: list[tuple[type[Exception], str]] = [
        (google.NotFound, NO_COLLECTION.format(name=collection)),
        (google.TooManyRequests, QUOTA),
        (google.DeadlineExceeded, SLOW),
        (google.GatewayTimeout, SLOW),
        (google.ServiceUnavailable, UNREACHABLE),
        (google.BadRequest, REFUSED),
    ]
    return next((reason for kind, reason in reasons if isinstance(error, kind)), FAILED)


def has_no_token(error: BaseException) -> bool:
    return NO_TOKEN in str(error)
