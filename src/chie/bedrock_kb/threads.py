"""Blocking work in daemon threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

THREAD_NAME = "bedrock"


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a new thread and wait for it. A cancelled caller stops waiting at once.

    The thread is a daemon, unlike those of a pool, so that an abandoned call does not keep the process alive.
    """
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting coroutine
            done.set_exception(error)

    Thread(target=copy_context().run, args=(run,), name=THREAD_NAME, daemon=True).start()
    return await asyncio.wrap_future(done)
