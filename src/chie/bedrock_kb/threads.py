"""Blocking work beside the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

THREAD = "bedrock"


async def in_thread(work: Callable[[], T]) -> T:
    """Wait for `work` in a thread of its own. Who is cancelled stops waiting at once.

    The thread is a daemon, as no pool's is: a call that nobody waits for any more shall not keep the process alive.
    """
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            done.set_exception(error)

    Thread(target=copy_context().run, args=(run,), name=THREAD, daemon=True).start()
    return await asyncio.wrap_future(done)
