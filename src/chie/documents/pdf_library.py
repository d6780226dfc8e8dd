"""The library that reads PDF files. The parser unpacks it into the temporary folder when it is first used, but the
process that reads a file may write nothing. So another process, which reads no file of a user, unpacks it, into a
folder that no other user of the machine can write to."""

import asyncio
import os
import shutil
import sys
import tempfile
import weakref
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Mapping
from pathlib import Path

from chie.errors import ConfigurationError

MODULE = "chie.documents.pdf_library"
TEMPORARY = ("TMPDIR", "TMP", "TEMP")  # as the systems call it
EMPTY_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n"
)


class PdfLibrary:
    """Unpacked on first use; its folder is deleted by `close`, or with the object."""

    def __init__(self) -> None:
        self._unpacking = asyncio.Lock()
        self._folder: Path | None = None
        self._delete: Callable[[], object] = lambda: None

    def close(self) -> None:
        """A process that a signal ends runs nothing at its exit."""
        self._delete()

    async def variables(self, kept: Mapping[str, str]) -> dict[str, str]:
        """The environment, with the folder as the temporary one. ConfigurationError if it cannot be written."""
        async with self._unpacking:
            if self._folder is None or not _has_library(self._folder):  # systems clean their temporary folders
                self._folder = await self._unpacked(kept)
            return _with_folder(kept, self._folder)

    async def _unpacked(self, kept: Mapping[str, str]) -> Path:
        try:
            folder = Path(tempfile.mkdtemp(prefix="chie-pdf-"))
        except OSError as error:
            raise _unwritable(tempfile.gettempdir()) from error
        self._delete = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-B", "-m", MODULE), stdout=DEVNULL, stderr=DEVNULL, env=_with_folder(kept, folder)
        )
        await process.wait()
        if not _has_library(folder):
            raise _unwritable(str(folder.parent))
        return folder


def _with_folder(kept: Mapping[str, str], folder: Path) -> dict[str, str]:
    return {**kept, **dict.fromkeys(TEMPORARY, str(folder))}


def _has_library(folder: Path) -> bool:
    return any(file.is_file() and file.stat().st_size for file in folder.rglob("*"))


def _unwritable(folder: str) -> ConfigurationError:
    return ConfigurationError("attachments.pdf_reader_unwritable", folder=folder)


def unpack() -> None:
    import kreuzberg

    try:
        kreuzberg.extract_bytes_sync(EMPTY_PDF, "application/pdf")
    except kreuzberg.KreuzbergError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    os.umask(0o077)
    unpack()
