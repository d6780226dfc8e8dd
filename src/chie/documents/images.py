"""The size of an image in pixels, from its headers. Nothing is decoded, so a picture cannot do harm here."""

import struct
from collections.abc import Callable

Size = tuple[int, int]

# Markers of a JPEG that start a frame and hold its size.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_size(media_type: str, data: bytes) -> Size | None:
    """Width and height; None if the file is damaged or incomplete."""
    try:
        width, height = _READERS[media_type](data)
    except (ValueError, IndexError, struct.error):
        return None
    return (width, height) if width > 0 and height > 0 else None


def _png(data: bytes) -> Size:
    if data[12:16] != b"IHDR" or b"IEND" not in data[-4096:]:
        raise ValueError
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _gif(data: bytes) -> Size:
    if b"\x3b" not in data[-16:]:
        raise ValueError
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _jpeg(data: bytes) -> Size:
    if b"\xff\xd9" not in data[-65_536:]:
        raise ValueError
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if marker in FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    raise ValueError


def _webp(data: bytes) -> Size:
    if struct.unpack("<I", data[4:8])[0] + 8 > len(data):
        raise ValueError
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = struct.unpack("<I", data[21:25])[0]
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
    raise ValueError


_READERS: dict[str, Callable[[bytes], Size]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
