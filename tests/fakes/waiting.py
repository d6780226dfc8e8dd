"""Waiting for what another process or connection does, where there is nothing to await."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """The test's own timeout ends what is never reached."""
    while not await reached():  # noqa: ASYNC110 - it happens beyond this loop's reach
        await asyncio.sleep(0.001)
