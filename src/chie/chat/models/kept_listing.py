"""A list of models that is slow to fetch, kept for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from chie.errors import ChieError

KEEP_SECONDS = 300.0
KEEP_ERROR_SECONDS = 5.0  # what was wrong may have just been corrected


class KeptListing:
    """Requests that come together share one fetch. Errors are kept for a moment, too."""

    def __init__(self, fetch: Callable[[], Awaitable[list[str]]]) -> None:
        self._fetch = fetch
        self._fetching = asyncio.Lock()
        self._found: list[str] | ChieError = []
        self._found_at = float("-inf")

    async def get(self) -> list[str]:
        async with self._fetching:
            kept = KEEP_ERROR_SECONDS if isinstance(self._found, ChieError) else KEEP_SECONDS
            if monotonic() - self._found_at > kept:
                try:
                    self._found = await self._fetch()
                except ChieError as error:
                    self._found = error
                self._found_at = monotonic()
        if isinstance(self._found, ChieError):
            raise self._found
        return self._found
