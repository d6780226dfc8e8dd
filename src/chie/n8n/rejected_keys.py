"""Keys that this version of n8n does not accept: send the body again without them, and note it."""

from collections.abc import Awaitable, Callable
from typing import Any

from chie.messages.catalogue import Message
from chie.n8n.errors import RejectedKeysError
from chie.n8n.models import NODE_KEYS, REQUIRED, SETTINGS_KEYS, Json

MAX_REJECTIONS = 3  # one for each part: the body, its nodes, its settings


async def send_accepted_keys(send: Callable[[Json], Awaitable[Any]], body: Json, notes: list[Message]) -> Json:
    """Send the body, without the keys that n8n rejects; returns what it accepted."""
    for _ in range(MAX_REJECTIONS):
        try:
            await send(body)
        except RejectedKeysError as error:
            body, dropped = _without(body, error)
            if not dropped:
                raise
            notes.append(Message("n8n.keys_dropped", keys=dropped))
        else:
            return body
    await send(body)
    return body


def _without(body: Json, rejected: RejectedKeysError) -> tuple[Json, list[str]]:
    match rejected.part:
        case "query":
            return body, []
        case "settings":
            settings, dropped = _trim(body["settings"], rejected.keys, SETTINGS_KEYS)
            return {**body, "settings": settings}, [f"settings.{key}" for key in dropped]
        case "nodes":
            trimmed = [_trim(node, rejected.keys, NODE_KEYS) for node in body["nodes"]]
            dropped = sorted({key for _, keys in trimmed for key in keys})
            return {**body, "nodes": [node for node, _ in trimmed]}, [f"nodes[].{key}" for key in dropped]
    return _trim(body, rejected.keys - set(REQUIRED), frozenset(REQUIRED))


def _trim(part: Json, named: frozenset[str], always_accepted: frozenset[str]) -> tuple[Json, list[str]]:
    """Without the keys that n8n named; if it named none, with only those that every version accepts."""
    dropped = sorted(key for key in part if (key in named if named else key not in always_accepted))
    return {key: value for key, value in part.items() if key not in dropped}, dropped
