"""Reading an agent's events for a client that waits: with heartbeats, and an end when the client disconnects."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing
from enum import Enum
from typing import Any, Self, TypeVar

from starlette.requests import Request

from chie.chat.events import Event
from chie.chat.usage.recorder import Work
from chie.errors import ServiceError
from chie.logging import request_id
from chie.unicode import clean

T = TypeVar("T")


class _End(Enum):
    END = "end"


Item = Event | _End | Exception | None

logger = logging.getLogger(__name__)


class ClientDisconnectedError(Exception):
    """The client is gone, so its answer was cancelled."""


class AgentReader:
    """Iterates over an agent's events, with None for every `interval` seconds of silence.

    The agent runs in one task from start to end, and at most one event ahead of the client. Its usage is recorded
    before the end.
    """

    def __init__(
        self, events: AsyncGenerator[Event, None], interval: float, recording: AbstractAsyncContextManager[Work]
    ) -> None:
        self._events = events
        self._recording = recording
        self._interval = interval
        self._ready: asyncio.Queue[Item] = asyncio.Queue(1)
        self._peeked: list[Event | _End | None] = []
        self._task = asyncio.create_task(self._read())

    async def wait_for_first(self) -> None:
        """Until the first event or the first heartbeat; raises the error of an agent that fails before either."""
        self._peeked.append(await self._receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | None:
        item = self._peeked.pop() if self._peeked else await self._receive()
        if isinstance(item, _End):
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        await _cancel(self._task)

    async def _receive(self) -> Event | _End | None:
        try:
            async with asyncio.timeout(self._interval):
                item = await self._ready.get()
        except TimeoutError:
            if self._task.done() and self._ready.empty():  # a library in between has cancelled it
                raise ServiceError("chat.agent_failed", request_id=request_id()) from None
            return None
        if isinstance(item, Exception):
            raise item
        return item

    async def _read(self) -> None:
        try:
            async with self._recording as work, aclosing(self._events) as events:
                async for event in events:
                    if event["type"] == "done":
                        work.reported = event["usage"]
                    await self._ready.put(_cleaned(event))
        except Exception as error:  # noqa: BLE001 - raised by `_receive`, in the task of the request
            await self._ready.put(error)
        else:
            await self._ready.put(_End.END)


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled if the client disconnects first."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnectedError
        return working.result()
    finally:
        await _cancel(working, leaving)


def _cleaned(event: Event) -> Event:
    if event["type"] == "message" or event["type"] == "reasoning":
        event["content"] = clean(event["content"])
    elif event["type"] == "tool_call":
        logger.info("calls tool %s", event["name"])
    return event


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _cancel(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
