"""Keys that this version of n8n does not take: leave them out, once for each part of the body, and say so."""

from collections.abc import Awaitable, Callable
from typing import Any

from chie.n8n.errors import RefusedKeysError
from chie.n8n.models import NODE_KEYS, REQUIRED, SETTINGS_KEYS, Json

PARTS = 3  # the body itself, its nodes, its settings


async def send_accepted(send: Callable[[Json], Awaitable[Any]], body: Json, notes: list[str]) -> Json:
    """Send the body, and if n8n refuses keys, the rest of it; returns what was accepted."""
    for _ in range(PARTS):
        try:
            await send(body)
        except RefusedKeysError as error:
            body, dropped = _without(body, error)
            if not dropped:
                raise
            notes.append(f"this n8n does not take {', '.join(dropped)}: left out")
        else:
            return body
    await send(body)
    return body


def _without(body: Json, refused: RefusedKeysError) -> tuple[Json, list[str]]:
    match refused.where:
        case "query":
            return body, []
        case "settings":
            settings, gone = _trim(body["settings"], refused.keys, SETTINGS_KEYS)
            return {**body, "settings": settings}, [f"settings.{key}" for key in gone]
        case "nodes":
            trimmed = [_trim(node, refused.keys, NODE_KEYS) for node in body["nodes"]]
            gone = sorted({key for _, keys in trimmed for key in keys})
            return {**body, "nodes": [node for node, _ in trimmed]}, [f"nodes[].{key}" for key in gone]
    kept, gone = _trim(body, refused.keys - set(REQUIRED), frozenset(REQUIRED))
    return kept, gone


def _trim(part: Json, named: frozenset[str], safe: frozenset[str]) -> tuple[Json, list[str]]:
    """Without the keys that n8n named; where it named none, with only those that every version knows."""
    gone = sorted(key for key in part if (key in named if named else key not in safe))
    return {key: value for key, value in part.items() if key not in gone}, gone
