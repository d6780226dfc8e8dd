"""Waiting for an agent without losing sight of the client."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.requests import Request

from chie.chat.events import Event

T = TypeVar("T")


class ClientLeftError(Exception):
    """Nobody waits for the answer any more."""


async def attended(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; called off when the client leaves before."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientLeftError
        return working.result()
    finally:
        await _end(working, leaving)


async def with_silences(events: AsyncGenerator[Event, None], seconds: float) -> AsyncGenerator[Event | None, None]:
    """The events, and None after every so many seconds without one. An agent answers in one task from end to end."""
    ready: asyncio.Queue[Event] = asyncio.Queue(1)

    async def read() -> None:
        async with aclosing(events):
            async for event in events:
                await ready.put(event)

    reading = asyncio.create_task(read())
    waiting = asyncio.create_task(ready.get())
    try:
        while True:
            await asyncio.wait({reading, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                yield waiting.result()
                waiting = asyncio.create_task(ready.get())
            elif reading.done() and ready.empty():
                reading.result()
                return
            elif not reading.done():
                yield None
    finally:
        await _end(reading, waiting)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
