"""Office, OpenDocument and EPUB files are zips: which of them it is, and whether it is safe to unpack."""

import io
import zipfile

MAX_ENTRIES = 10_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024

_OFFICE = "application/vnd.openxmlformats-officedocument"
MAIN_PARTS = {
    "word/": f"{_OFFICE}.wordprocessingml.document",
    "xl/": f"{_OFFICE}.spreadsheetml.sheet",
    "ppt/": f"{_OFFICE}.presentationml.presentation",
}
DECLARED = ("application/vnd.oasis.opendocument.", "application/epub+zip")
DAMAGE = (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, RuntimeError, OverflowError)


class UnreadableError(Exception):
    """`reason` is a key of the reader's table of error codes."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def archive_type(data: bytes) -> str:
    """The media type. Raises UnreadableError, also for what would unpack to too much."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED_BYTES:
                raise UnreadableError("too_complex")
            if any(entry.flag_bits & 1 for entry in entries) or _is_encrypted(archive):
                raise UnreadableError("encrypted")
            return _type(archive)
    except DAMAGE as error:
        raise UnreadableError("damaged") from error


def _type(archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    if "mimetype" in names:
        declared = archive.read("mimetype").decode("ascii").strip()
        if declared.startswith(DECLARED):
            return declared
    if "[Content_Types].xml" in names:
        for folder, media_type in MAIN_PARTS.items():
            if any(name.startswith(folder) for name in names):
                return media_type
    raise UnreadableError("type_unsupported")


def _is_encrypted(archive: zipfile.ZipFile) -> bool:
    """An OpenDocument file keeps its entries readable and lists how they are encrypted."""
    manifest = "META-INF/manifest.xml"
    return manifest in archive.namelist() and b"encryption-data" in archive.read(manifest)
