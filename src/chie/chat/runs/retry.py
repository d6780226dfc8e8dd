"""Retrying the database, so that its restart costs neither a run nor a reader."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from chie.errors import StorageError

RETRY_DELAYS = (0.1, 0.5, 2.0, 5.0, 10.0, 15.0)

T = TypeVar("T")

logger = logging.getLogger(__name__)


async def retry_storage(operation: Callable[[], Awaitable[T]], message_id: str) -> T:
    """The operation's result. Raises its StorageError once the delays are used up."""
    for delay in RETRY_DELAYS:
        try:
            return await operation()
        except StorageError as error:
            logger.warning("message %s: %s [%s]; retrying in %s s", message_id, error.message, error.code, delay)
            await asyncio.sleep(delay)
    return await operation()
