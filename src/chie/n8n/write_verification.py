"""Compares what n8n stored with what was sent. n8n may add to it, but must not remove from it."""

from typing import Any

from chie.n8n.merge import RESET_VALUES
from chie.n8n.models import Json, Workflow


def differing_keys(stored: Workflow, sent: Json, keys: list[str]) -> list[str]:
    """Those of the keys whose stored value is not what was sent."""
    return [key for key in keys if not _matches(key, stored.get(key), sent.get(key))]


def _matches(key: str, stored: Any, sent: Any) -> bool:  # noqa: ANN401
    if key == "nodes":
        return len(stored or []) == len(sent or []) and all(
            _includes(old, new) for old, new in zip(stored or [], sent or [], strict=True)
        )
    if key == "settings":
        reset = {name for name, value in RESET_VALUES.items() if (sent or {}).get(name) == value}
        return _includes(stored or {}, {name: value for name, value in (sent or {}).items() if name not in reset})
    return bool((stored or None) == (sent or None))


def _includes(stored: Json, sent: Json) -> bool:
    return all(name in stored and stored[name] == value for name, value in sent.items())
