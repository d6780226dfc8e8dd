"""Decodes text files: UTF-8, UTF-16, and what Japanese programs have written before."""

import re

UNMISTAKABLE = ("utf-8-sig", "iso2022_jp")
JAPANESE = ("cp932", "euc_jp")

_UNLIKELY = re.compile(r"[\uff61-\uff9f\ue000-\uf8ff]")  # what one encoding looks like in the other
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def decode(data: bytes) -> str | None:
    """None for what is not text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decoded(data, "utf-16")
    for encoding in UNMISTAKABLE if b"\x1b$" not in data else reversed(UNMISTAKABLE):  # escapes are valid UTF-8
        if (text := _decoded(data, encoding)) is not None:
            return text
    likely = [text for text in (_decoded(data, encoding) for encoding in JAPANESE) if text is not None]
    return min(likely, key=lambda text: len(_UNLIKELY.findall(text)), default=None)


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _NOT_TEXT.search(text) else text.replace("\r\n", "\n")
