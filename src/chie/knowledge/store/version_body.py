"""How an earlier version of a note is stored: compressed, and as its difference to a whole version if that is smaller.

A body is `header` + LF + content, where the header is JSON. A difference leaves out the beginning and the end that the
contents have in common, and is compressed with the rest of the whole version as dictionary. It never refers to the
current note or to another difference, so reading a version takes two steps at most.
"""

import json
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from chie.knowledge.note import ImportedFile, Note

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LEVEL = 9
RAW = -15  # without header and checksum: the databases have their own
WINDOW = 32 * 1024  # as far as the algorithm looks back
WORTHWHILE = 0.5  # a larger difference is stored as a whole version, to which the next ones are compared
_COMMON = struct.Struct(">II")


class Plain(NamedTuple):
    header: bytes
    content: bytes

    def joined(self) -> bytes:
        return self.header + b"\n" + self.content


def plain(note: Note, file: ImportedFile | None) -> Plain:
    fields = _notes().dump_python(note, mode="json", exclude={"id", "content"}, exclude_defaults=True)
    if file is not None:
        fields["file"] = _files().dump_python(file, mode="json")
    return Plain(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(), note.content.encode())


def parse(note_id: str, body: Plain) -> tuple[Note, ImportedFile | None]:
    fields: dict[str, Any] = json.loads(body.header)
    file = fields.pop("file", None)
    note = _notes().validate_python({**fields, "id": note_id, "content": body.content.decode()})
    return note, file and _files().validate_python(file)


def whole(body: Plain) -> bytes:
    return _deflated(body.joined(), b"")


def read_whole(data: bytes) -> Plain:
    return _split(_inflated(data, b""))


def difference(body: Plain, base: Plain) -> bytes:
    prefix = _common_prefix(body.content, base.content)
    suffix = _common_suffix(body.content[prefix:], base.content[prefix:])
    middle = body.content[prefix : len(body.content) - suffix]
    return _COMMON.pack(prefix, suffix) + _deflated(
        Plain(body.header, middle).joined(), _dictionary(base, prefix, suffix)
    )


def read_difference(data: bytes, base: Plain) -> Plain:
    prefix, suffix = _COMMON.unpack_from(data)
    body = _split(_inflated(data[_COMMON.size :], _dictionary(base, prefix, suffix)))
    end = base.content[len(base.content) - suffix :]
    return Plain(body.header, base.content[:prefix] + body.content + end)


def _dictionary(base: Plain, prefix: int, suffix: int) -> bytes:
    middle = base.content[prefix : len(base.content) - suffix]
    return (middle + base.header)[-WINDOW:]


def _deflated(data: bytes, dictionary: bytes) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW, 9, zlib.Z_DEFAULT_STRATEGY, dictionary)
    return packer.compress(data) + packer.flush()


def _inflated(data: bytes, dictionary: bytes) -> bytes:
    unpacker = zlib.decompressobj(RAW, dictionary)
    return unpacker.decompress(data) + unpacker.flush()


def _split(data: bytes) -> Plain:
    header, _, content = data.partition(b"\n")
    return Plain(header, content)


def _common_prefix(one: bytes, other: bytes) -> int:
    """By halving: comparing slices is much faster than comparing bytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _common_suffix(one: bytes, other: bytes) -> int:
    return _common_prefix(one[::-1], other[::-1])


@cache
def _notes() -> "TypeAdapter[Note]":
    from pydantic import TypeAdapter

    return TypeAdapter(Note)


@cache
def _files() -> "TypeAdapter[ImportedFile]":
    from pydantic import TypeAdapter

    return TypeAdapter(ImportedFile)
