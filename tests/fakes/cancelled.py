"""Cancels a coroutine wherever it waits, as a client that disconnects does."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any


class _CancelledAt:
    """Runs the coroutine; when it waits for the `step`th time, its task is cancelled."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], step: int) -> None:
        self._coroutine = coroutine
        self._step = step
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        resume, value = self._coroutine.send, None
        while True:
            try:
                waiting = resume(value)
            except StopIteration as end:
                return end.value
            if self.steps == self._step:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            self.steps += 1
            try:
                value, resume = (yield waiting), self._coroutine.send
            except BaseException as error:  # noqa: BLE001 - it is the coroutine's to handle
                value, resume = error, self._coroutine.throw


async def cancelled_at_each_step(start: Callable[[], Coroutine[Any, Any, Any]]) -> AsyncIterator[int]:
    """For every point at which the coroutine waits: start one, cancel it there, and yield the number of the point."""
    step = 0
    while True:
        running = _CancelledAt(start(), step)

        async def run(running: _CancelledAt = running) -> None:
            await running

        await asyncio.wait([asyncio.create_task(run())])
        if running.steps <= step:
            return
        yield step
        step += 1
