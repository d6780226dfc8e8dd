"""What is thrown at readers of foreign bytes, and what must hold whatever it is. Hypothesis and atheris drive these."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from chie.chat.api.sse import encode
from chie.chat.models.sse import EventParser
from chie.chat.runs.reader import Batch
from chie.errors import ChieError
from chie.knowledge.markdown import encodings, note_file, uploads
from chie.n8n.merge import Change, merge
from chie.n8n.patch import apply_all, read_operations

MOMENT = datetime(2026, 4, 1, tzinfo=UTC)
WORKFLOW: dict[str, Any] = {
    "id": "w",
    "name": "夜間バッチ",
    "nodes": [
        {"id": "1", "name": "Start", "type": "n8n-nodes-base.webhook", "position": [0, 0], "parameters": {"path": "x"}},
        {"id": "2", "name": "送信", "type": "n8n-nodes-base.httpRequest", "position": [200, 0], "parameters": {}},
    ],
    "connections": {"Start": {"main": [[{"node": "送信", "type": "main", "index": 0}]]}},
    "settings": {"executionOrder": "v1"},
}


def markdown_file(data: bytes) -> None:
    """Any file is a note that its own file gives back, or is refused in our words."""
    try:
        note = note_file.parse(encodings.decode(data), name="file", source="file:///file.md", changed=MOMENT)
        again = note_file.parse(note_file.write(note), name="other", source="file:///other.md", changed=MOMENT)
    except ChieError:
        return
    name = note_file.file_name(note)
    assert "/" not in name
    assert len(name.encode()) < 255
    if note.content and note.title:
        assert again == note


def zip_file(data: bytes) -> None:
    """Any bytes are a zip whose files are read or refused one by one, or are refused whole."""
    report = uploads.ImportReport()
    with suppress(ChieError):
        for entry in uploads.unpacked([uploads.Upload("a.zip", io.BytesIO(data))], report):
            with suppress(ChieError):
                entry.read()


def sse_reader(data: bytes) -> None:
    """Bytes mean the same however the network cuts them; the first ones say where."""
    cuts, stream = data[:4], data[4:]
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    assert _read([stream[start:end] for start, end in pairwise(edges)]) == _read([stream])


def sse_encoder(data: bytes) -> None:
    """Whatever an answer holds comes out of the stream as it went in, each event once and numbered in a row."""
    items = _json(data)
    if not isinstance(items, list):
        return
    events = [item if isinstance(item, str) else {"type": "tool_result", "content": item} for item in items]
    stream = encode(Batch(first=7, items=events))
    read = [json.loads(event) for event in _read([stream])]
    assert read == [{"type": "message", "content": e} if isinstance(e, str) else e for e in events]
    numbers = [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]
    assert numbers == list(range(7, 7 + len(events)))


def n8n_patch(data: bytes) -> None:
    """Operations are applied or raise an error; the given workflow is never changed."""
    before = deepcopy(WORKFLOW)
    with suppress(ChieError):
        operations: Any = read_operations(_json(data))
        if isinstance(operations, list):
            apply_all(before, operations)
    assert before == WORKFLOW


def n8n_merge(data: bytes) -> None:
    """Fields that were not given stay as they are; the stored workflow is never changed."""
    given = _json(data)
    if not isinstance(given, dict):
        return
    before = deepcopy(WORKFLOW)
    kinds = {"name": str, "settings": dict}  # what the tool's schema lets through
    fields = {key: given[key] for key, kind in kinds.items() if isinstance(given.get(key), kind)}
    if isinstance(nodes := given.get("nodes"), list) and all(isinstance(node, dict) for node in nodes):
        fields["nodes"] = nodes
    merged = merge(before, Change(fields))
    assert before == WORKFLOW
    assert all(merged.body[key] == WORKFLOW[key] for key in ("name", "nodes", "connections") if key not in fields)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (markdown_file, zip_file, sse_reader, sse_encoder, n8n_patch, n8n_merge)
}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _read(received: list[bytes]) -> list[bytes]:
    parser = EventParser()
    events = [event for part in received for event in parser.feed(part)]
    return [*events, *parser.finish()]
