"""Reads an attached file: checks what it is, and gets the text of a document from a process with limits."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import Any, Literal

from chie.documents import file_kinds
from chie.documents.images import image_size
from chie.documents.pdf_library import PdfLibrary
from chie.documents.plain_text import decode
from chie.errors import ConfigurationError, ValidationError
from chie.installation.commands import install_extra

MIB = 1024 * 1024
MAX_FILE_BYTES = 20 * MIB
MAX_IMAGE_BYTES = 15 * MIB // 4  # Amazon Bedrock's limit, and Anthropic's once it is encoded
MAX_IMAGE_PIXELS = 8_000  # a side
MAX_CHARACTERS = 2_000_000
MAX_NAME = 200
MAX_PROCESSES = 2  # at the same time
TIMEOUT_SECONDS = 60.0
MODULE = "chie.documents.extract"
UNREADABLE = {
    "damaged": "attachments.damaged",
    "encrypted": "attachments.encrypted",
    "no_text": "attachments.no_text",
    "too_complex": "attachments.too_complex",
    "type_unsupported": "attachments.type_unsupported",
}
KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # no secrets


@dataclass(frozen=True, kw_only=True)
class ReadFile:
    """A document has `text`, an image has `width` and `height`."""

    name: str
    data: bytes
    kind: Literal["image", "document"]
    media_type: str
    text: str | None = None
    width: int | None = None
    height: int | None = None


class DocumentReader:
    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_PROCESSES)
        self._pdf_library = PdfLibrary()

    def close(self) -> None:
        """Deletes what was unpacked; reading a file unpacks it again."""
        self._pdf_library.close()

    async def read(self, name: str, data: bytes) -> ReadFile:
        """Raises ValidationError with the reason why a file cannot be attached."""
        name = _plain_name(name)
        if not data:
            raise ValidationError("attachments.empty", name=name)
        if len(data) > MAX_FILE_BYTES:
            raise ValidationError("attachments.too_large", name=name, limit=MAX_FILE_BYTES // MIB)
        if media_type := file_kinds.image_type(data):
            return _image(name, data, media_type)
        if file_kinds.is_other_image(data):
            raise ValidationError("attachments.image_type_unsupported", name=name)
        return await self._document(name, data)

    async def _document(self, name: str, data: bytes) -> ReadFile:
        media_type = file_kinds.binary_type(name, data)
        if media_type is None:
            text = await asyncio.to_thread(decode, data)
            if text is None:
                raise ValidationError("attachments.type_unsupported", name=name)
            media_type = file_kinds.text_type(name, text)
            if media_type == file_kinds.PLAIN_TEXT:
                return _text_file(name, data, media_type, text, len(text))
            converted = text.encode("utf-8", errors="replace")  # the parser takes UTF-8 only
        else:
            converted = data
        found = await self._extracted(name, media_type, converted)
        if "error" in found:
            raise ValidationError(UNREADABLE[found["error"]], name=name)
        return _text_file(name, data, found["media_type"], found["text"], found["length"])

    async def _extracted(self, name: str, media_type: str, data: bytes) -> dict[str, Any]:
        """Cancelling it ends the process."""
        if find_spec("kreuzberg") is None:
            raise ConfigurationError("attachments.reader_missing", command=install_extra("documents"))
        kept = {key: value for key, value in os.environ.items() if key in KEPT_VARIABLES}
        async with self._slots:
            variables = await self._pdf_library.variables(kept) if media_type == file_kinds.PDF else kept
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-B", "-m", MODULE, media_type),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=variables,
            )
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    output, _ = await process.communicate(data)
            except TimeoutError:
                raise ValidationError("attachments.too_complex", name=name) from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode != 0:
            raise ValidationError("attachments.too_complex", name=name)
        found: dict[str, Any] = json.loads(output)
        return found


def _plain_name(name: str) -> str:
    """Without folders and control characters; a long one keeps its ending."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(letter for letter in last if letter.isprintable()).strip() or "file"
    if len(shown) <= MAX_NAME:
        return shown
    ending = file_kinds.suffix(shown)[:20]
    return shown[: MAX_NAME - len(ending) - 1] + "…" + ending


def _image(name: str, data: bytes, media_type: str) -> ReadFile:
    size = image_size(media_type, data)
    if size is None:
        raise ValidationError("attachments.image_damaged", name=name)
    if len(data) > MAX_IMAGE_BYTES or max(size) > MAX_IMAGE_PIXELS:
        raise ValidationError(
            "attachments.image_too_large", name=name, limit=f"{MAX_IMAGE_BYTES / MIB:g}", pixels=MAX_IMAGE_PIXELS
        )
    return ReadFile(name=name, data=data, kind="image", media_type=media_type, width=size[0], height=size[1])


def _text_file(name: str, data: bytes, media_type: str, text: str, length: int) -> ReadFile:
    if length > MAX_CHARACTERS:
        raise ValidationError("attachments.text_too_long", name=name, length=length, limit=MAX_CHARACTERS)
    if not text.strip():
        raise ValidationError("attachments.empty", name=name)
    return ReadFile(name=name, data=data, kind="document", media_type=media_type, text=text.replace("\x00", "\ufffd"))
