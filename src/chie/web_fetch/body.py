"""Reads a response up to a limit, and decodes it: compression first, then the character set."""

import codecs
import re
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress

from chie.errors import ServiceError

FALLBACK_CHARSETS = ("utf-8", "cp932", "euc_jp")
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*+=\s*+["']?\s*+([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
META_BYTES = 4096


async def read_body(chunks: AsyncIterator[bytes], encoding: str, limit: int) -> tuple[bytes, bool]:
    """The first `limit` bytes after decompression, and whether there are more. A small bomb stays small."""
    inflate = _inflater(encoding)
    body = bytearray()
    async for chunk in chunks:
        body += inflate(chunk, limit + 1 - len(body))
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


class _Inflater:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=47)  # gzip or zlib

    def __call__(self, data: bytes, limit: int) -> bytes:
        try:
            return self._zlib.decompress(data, limit)
        except zlib.error as error:
            raise ServiceError("web_fetch.body_invalid") from error


class _Identity:
    def __call__(self, data: bytes, limit: int) -> bytes:
        return data[:limit]


def _inflater(encoding: str) -> _Inflater | _Identity:
    match encoding.strip().lower():
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip" | "deflate":
            return _Inflater()
    raise ServiceError("web_fetch.body_invalid")


def decode(body: bytes, declared: str | None) -> str:
    """By byte order mark, header, meta element, or else the first charset that fits; invalid bytes are replaced."""
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return body.decode(charset, errors="replace")
    meta = _META.search(body[:META_BYTES])
    for name in (declared, meta[1].decode("ascii") if meta else None):
        with suppress(LookupError):
            if name:
                return _decoded(body, name)
    for charset in FALLBACK_CHARSETS:
        with suppress(UnicodeDecodeError):
            return body.decode(charset)
    return body.decode("utf-8", errors="replace")


def _decoded(body: bytes, charset: str) -> str:
    """`Shift_JIS` on the web means Microsoft's superset. Codecs that are no charsets, such as `zip`, do not count."""
    name = codecs.lookup(charset).name
    if not codecs.lookup(name)._is_text_encoding:  # noqa: SLF001
        raise LookupError(charset)
    return body.decode("cp932" if name == "shift_jis" else name, errors="replace")
