"""A server entry as TOML text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def toml_table(path: Sequence[str], entry: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(map(_toml_key, path))}]"]
    lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML does not allow DEL unescaped


def _toml_key(key: str) -> str:
    plain = key and key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if plain else _toml_value(key)
