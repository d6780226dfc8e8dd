"""The text of a document: `python -m chie.documents.extract TYPE`, from stdin to stdout, in a process of its own.

Prints JSON: the media type with the text, or the reason why there is none.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from chie.documents.file_kinds import OLE, PDF, ZIP
from chie.documents.office_archive import UnreadableError, archive_type
from chie.documents.sandbox import enter

MAX_CHARACTERS = 2_000_000
ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")


def extract(media_type: str, data: bytes) -> dict[str, Any]:
    try:
        media_type = archive_type(data) if media_type == ZIP else _checked(media_type, data)
        text = _text(media_type, data)
    except UnreadableError as error:
        return {"error": error.reason}
    if not text:
        return {"error": "no_text"}
    text = text.replace("\r\n", "\n")
    return {"media_type": media_type, "text": text[:MAX_CHARACTERS], "length": len(text)}


def _checked(media_type: str, data: bytes) -> str:
    if ENCRYPTED_OFFICE in data:
        raise UnreadableError("encrypted")
    if media_type == OLE:
        raise UnreadableError("type_unsupported")
    return media_type


def _text(media_type: str, data: bytes) -> str:
    import kreuzberg

    # By default it drops what is near the edges of a page, and with it the first line of many a letter.
    everything = kreuzberg.ContentFilterConfig(include_headers=True, include_footers=True, strip_repeating_text=False)
    options: dict[str, Any] = {
        "use_cache": False,
        "disable_ocr": True,
        "output_format": "markdown",
        "content_filter": everything,
    }
    if media_type == PDF:
        options["pages"] = kreuzberg.PageConfig(extract_pages=True)
    config = kreuzberg.ExtractionConfig(**options)
    try:
        result = kreuzberg.extract_bytes_sync(data, media_type, config=config)
    except kreuzberg.KreuzbergError as error:
        encrypted = "password" in str(error).lower() or "encrypted" in str(error).lower()
        raise UnreadableError("encrypted" if encrypted else "damaged") from error
    return _paged(result.pages or []) or result.content.strip()


def _paged(pages: Sequence[Mapping[str, Any]]) -> str:
    """With the numbers of pages, so that an answer can name them."""
    if len(pages) < 2 or not any(page["content"].strip() for page in pages):
        return ""
    return "\n\n".join(f"[Page {page['page_number']}]\n\n{page['content'].strip()}".rstrip() for page in pages)


def main(media_type: str) -> None:
    data = sys.stdin.buffer.read()
    enter()
    sys.stdout.buffer.write(json.dumps(extract(media_type, data)).encode("utf-8", errors="replace"))


if __name__ == "__main__":
    main(sys.argv[1])
