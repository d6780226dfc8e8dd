"""What a file is, by its first bytes; its name decides only between kinds of text."""

from collections.abc import Callable
from pathlib import PurePosixPath

PDF = "application/pdf"
HTML = "text/html"
RTF = "application/rtf"
PLAIN_TEXT = "text/plain"
ZIP = "application/zip"  # an Office, OpenDocument or EPUB file, or something else
OLE = "application/x-ole-storage"  # an Office file of before 2007, or an encrypted one of today

IMAGES: dict[str, Callable[[bytes], bool]] = {
    "image/png": lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda head: head.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda head: head.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda head: head[:4] == b"RIFF" and head[8:12] == b"WEBP",
}
OTHER_IMAGES = (b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00", b"\xff\x0a", b"\x00\x00\x00\x0cJXL ")
OTHER_IMAGE_BRANDS = (b"heic", b"heix", b"heif", b"mif1", b"msf1", b"avif", b"avis")
TEXT_TYPES = {
    ".htm": HTML,
    ".html": HTML,
    ".xhtml": HTML,
    ".eml": "message/rfc822",
    ".ipynb": "application/x-ipynb+json",
}
OLE_TYPES = {
    ".doc": "application/msword",
    ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".msg": "application/vnd.ms-outlook",
}


def image_type(data: bytes) -> str | None:
    """Of the images that every provider of models takes."""
    return next((kind for kind, matches in IMAGES.items() if matches(data[:16])), None)


def is_other_image(data: bytes) -> bool:
    return data.startswith(OTHER_IMAGES) or (data[4:8] == b"ftyp" and data[8:12] in OTHER_IMAGE_BRANDS)


def binary_type(name: str, data: bytes) -> str | None:
    """None for what may be text."""
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"PK\x03\x04"):
        return ZIP
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return OLE_TYPES.get(suffix(name), OLE)
    return RTF if data.startswith(b"{\\rtf") else None


def text_type(name: str, text: str) -> str:
    head = text[:200].lstrip().lower()
    if head.startswith(("<!doctype html", "<html")):
        return HTML
    return TEXT_TYPES.get(suffix(name), PLAIN_TEXT)


def suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
