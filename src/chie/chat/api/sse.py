"""Encodes events as Server-Sent Events, numbered so that a client can resume."""

import asyncio
from collections.abc import Callable
from json import JSONEncoder
from typing import Any, Self

from prometheus_client import Gauge
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from chie.access.revocation import ended_by_revocation
from chie.chat.runs.reader import Batch, EventReader
from chie.chat.sessions.answer_builder import error_events
from chie.chat.sessions.entities import StoredEvent
from chie.errors import AuthenticationError

HEARTBEAT_COMMENT = b": still here\n\n"
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

Revoked = Callable[[], "asyncio.Task[Any]"]

_json = JSONEncoder(ensure_ascii=False).encode


def encode(batch: Batch) -> bytes:
    if not batch.items:
        return HEARTBEAT_COMMENT
    frames = [_frame(number, item) for number, item in enumerate(batch.items, batch.first)]
    return "".join(frames).encode("utf-8", "replace")


def _frame(number: int, item: StoredEvent) -> str:
    if isinstance(item, str):
        return f'id: {number}\nevent: message\ndata: {{"type": "message", "content": {_json(item)}}}\n\n'
    if item["type"] == "done":  # the one event without `type` in its data
        item = {name: value for name, value in item.items() if name != "type"}
        return f"id: {number}\nevent: done\ndata: {_json(item)}\n\n"
    return f"id: {number}\nevent: {item['type']}\ndata: {_json(item)}\n\n"


class _Frames:
    """The encoded batches of a reader."""

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        batch = await self._reader.next()
        if batch is None:
            raise StopAsyncIteration
        return encode(batch)


class EventStream(StreamingResponse):
    """Sends the headers at once, before the first event; proxies are told not to buffer."""

    media_type = MEDIA_TYPE

    def __init__(
        self, reader: EventReader, *, open_streams: Gauge, session_id: str, message_id: str, revoked: Revoked
    ) -> None:
        """`revoked` begins to stop the answer if the user's token is revoked before it ends; the last events say so."""
        self._reader = reader
        self._open_streams = open_streams
        self._revoked = revoked
        self._scope: Scope = {}
        headers = HEADERS | {"X-Chie-Session": session_id, "X-Chie-Message": message_id}
        super().__init__(_Frames(reader), headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        with self._open_streams.track_inprogress(), self._reader:
            if await ended_by_revocation(self._scope, super().stream_response(send)):
                stopping = self._revoked()
                last = Batch(self._reader.position + 1, error_events(AuthenticationError("access.token_revoked")))
                await send({"type": "http.response.body", "body": encode(last), "more_body": False})
                await asyncio.wait({stopping})  # the client disconnects now, which cancels this response alone
