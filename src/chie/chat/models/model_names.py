"""The name of a model as people read it. Some servers list the path of the model's file."""

import re

_PATH = re.compile(r"(?:^(?:\.{0,2}[/\\]|~[/\\]|[A-Za-z]:[/\\])|\.gguf$)", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|bin|safetensors)$", re.IGNORECASE)


def display_name(name: str) -> str:
    """`foo` for `/models/foo.gguf`; a name such as `openai/gpt-4o` stays as it is."""
    if not _PATH.search(name):
        return name
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return _SUFFIX.sub("", last) or name
