"""Polls for what another process or connection does, where there is nothing to await."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Returns when `reached` is true; the test's timeout limits the wait."""
    while not await reached():  # noqa: ASYNC110 - it happens outside this event loop
        await asyncio.sleep(0.001)
