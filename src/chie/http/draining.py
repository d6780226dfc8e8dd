"""Ends open response streams when the server shuts down; uvicorn alone would wait for them until its timeout."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

DRAIN_SECONDS = 1.0  # for streams to end by themselves after the shutdown began
FINAL_CHUNK_SECONDS = 0.1  # a client that does not read would block the last chunk


def on_shutdown(app: "Starlette", callback: Callable[[], None]) -> None:
    """Call `callback` as soon as a shutdown begins, while clients are still connected."""
    app.state.shutdown_callbacks = [*_callbacks(app), callback]


def _callbacks(app: "ASGIApp") -> list[Callable[[], None]]:
    return getattr(getattr(app, "state", None), "shutdown_callbacks", [])


class Draining:
    """Tracks responses without a Content-Length, and ends them on shutdown."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._open: set[asyncio.Task[Any]] = set()
        self._cancelled: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """uvicorn runs each request in a task of its own, so cancelling the task ends this request alone."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            return await self._app(scope, receive, send)

        async def tracking_send(message: "Message") -> None:
            if message["type"] == "http.response.start" and not _has_length(message):
                self._open.add(task)
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                self._open.discard(task)
            await send(message)

        try:
            await self._app(scope, receive, tracking_send)
        except asyncio.CancelledError:
            if task not in self._cancelled:
                raise
            task.uncancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(FINAL_CHUNK_SECONDS):
                    await send({"type": "http.response.body", "body": b""})
        finally:
            self._open.discard(task)
            self._cancelled.discard(task)

    async def drain(self) -> None:
        """Run the shutdown callbacks, give streams a moment to end, then cut them with a valid last chunk."""
        for callback in _callbacks(self._app):
            callback()
        if self._open:
            await asyncio.wait(self._open, timeout=DRAIN_SECONDS)
        for task in tuple(self._open):
            self._cancelled.add(task)
            task.cancel()


def _has_length(start: "Message") -> bool:
    return any(name.lower() == b"content-length" for name, _ in start.get("headers", ()))
