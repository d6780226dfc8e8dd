"""Errors of the page's routes: their log lines, and the HTTP statuses of requests that n8n rejected."""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from chie import errors
from chie.http.routing import DeferredRoute
from chie.n8n.errors import ApiError, PartialChangeError

logger = logging.getLogger(__name__)

CALLER_ERRORS: dict[int | None, type[errors.ChieError]] = {
    400: errors.ValidationError,
    404: errors.NotFoundError,
    409: errors.ConflictError,
}


class CallerErrorRoute(DeferredRoute):
    """Logs every error, as the tools do, and raises n8n's rejection of a caller's request as the caller's error."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def translated(request: Request) -> Response:
            try:
                return await handle(request)
            except errors.ChieError as error:
                logger.error("[%s] Error", self.name, exc_info=error)  # noqa: TRY400 - the log formatter decides about the stack
                if isinstance(error, ApiError):
                    raise _caller_error(error) from error
                raise

        return translated


def _caller_error(error: ApiError) -> errors.ChieError:
    """A change that was made in part stays an error of n8n. So does a 404 for a list: the URL of n8n is wrong then."""
    named = error.context is not None and error.context.resource_id is not None
    if isinstance(error, PartialChangeError) or (error.status_code == 404 and not named):
        return error
    kind = CALLER_ERRORS.get(error.status_code)
    return kind(error.reason) if kind else error
