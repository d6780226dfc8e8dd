"""The encoder: events become Server-Sent Events, numbered for those who come back."""

from collections.abc import AsyncIterator
from json import JSONEncoder

from starlette.responses import StreamingResponse

from chie.chat.runs.reader import Batch
from chie.chat.sessions.answer import Item

HEARTBEAT = b": still here\n\n"
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

_json = JSONEncoder(ensure_ascii=False).encode


def encode(batch: Batch) -> bytes:
    if not batch.items:
        return HEARTBEAT
    frames = [_frame(number, item) for number, item in enumerate(batch.items, batch.first)]
    return "".join(frames).encode("utf-8", "replace")


def _frame(number: int, item: Item) -> str:
    if isinstance(item, str):
        return f'id: {number}\nevent: message\ndata: {{"type": "message", "content": {_json(item)}}}\n\n'
    if item["type"] == "done":  # the one event whose data says nothing of its type
        item = {name: value for name, value in item.items() if name != "type"}
        return f"id: {number}\nevent: done\ndata: {_json(item)}\n\n"
    return f"id: {number}\nevent: {item['type']}\ndata: {_json(item)}\n\n"


class EventStream(StreamingResponse):
    """Starts at once, so that the headers arrive before the first event; no proxy shall hold it back."""

    media_type = MEDIA_TYPE

    def __init__(self, batches: AsyncIterator[Batch], *, session_id: str, message_id: str) -> None:
        headers = HEADERS | {"X-Chie-Session": session_id, "X-Chie-Message": message_id}
        super().__init__((encode(batch) async for batch in batches), headers=headers)
