"""Ends a response that lasts when the token of its request is revoked."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Scope

IS_REVOKED_KEY = "chie.is_revoked"  # in an ASGI scope: whether the token of the request has been revoked since
CHECK_SECONDS = 1.0


async def ended_by_revocation(scope: "Scope", work: Coroutine[Any, Any, None]) -> bool:
    """Await `work`; True if the token was revoked first, which cancels it."""
    is_revoked: Callable[[], bool] | None = scope.get(IS_REVOKED_KEY)
    if is_revoked is None:
        await work
        return False
    working = asyncio.create_task(work)
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=CHECK_SECONDS)
            if not working.done() and is_revoked():
                return True
        working.result()
        return False
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
