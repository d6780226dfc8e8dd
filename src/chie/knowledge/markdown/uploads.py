"""Uploaded Markdown files and zips of them, and the export as a zip, without files on disk."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from chie.errors import ChieError, StorageError, ValidationError
from chie.knowledge.markdown import note_file
from chie.knowledge.markdown.folder import all_notes
from chie.knowledge.markdown.import_run import ImportRun
from chie.knowledge.markdown.vault import UPLOADS, fingerprint
from chie.knowledge.note import now
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.service import KnowledgeService
from chie.messages.catalogue import Message

MIB = 1024 * 1024
MAX_FILE_BYTES = 2 * MIB
MAX_FILES = 10_000
MAX_IMPORT_BYTES = 64 * MIB

# The range of a zip's timestamps, which have a resolution of two seconds.
MIN_ZIP_TIME, MAX_ZIP_TIME = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, 23, 59, 58, tzinfo=UTC)

# Raised by zipfile and its decompressors for damaged, encrypted or unsupported data.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError),
)

# zipfile decompresses the other kinds without a limit: a few bytes could become gigabytes.
SUPPORTED_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Reader = Callable[[], bytes]


@dataclass(frozen=True)
class Upload:
    """`changed` is the file's modification time, if the client sent it."""

    name: str
    file: IO[bytes]
    changed: datetime | None = None


@dataclass(frozen=True)
class Entry:
    """A file, uploaded by itself or in a zip."""

    name: str
    read: Reader
    changed: datetime | None


@dataclass
class ImportReport:
    """`newer` are files whose notes were changed in Chie later and left alone. `refused` has the reason per file."""

    saved: int = 0
    unchanged: int = 0
    newer: list[str] = field(default_factory=list)
    refused: dict[str, Message] = field(default_factory=dict)


@dataclass
class ByteBudget:
    """Limits the decompressed size of one import, because a small zip can hold gigabytes."""

    left: int = field(default_factory=lambda: MAX_IMPORT_BYTES)

    def read(self, read: Reader) -> bytes:
        if self.left <= 0:
            raise ValidationError("knowledge.import_too_large", limit=MAX_IMPORT_BYTES // MIB)
        content = read()
        self.left -= len(content)
        return content


def receive(
    service: KnowledgeService,
    uploads: Iterable[Upload],
    *,
    overwrite: bool = False,
    secrets: SecretPolicy = "refuse",
    space: str | None = None,
) -> ImportReport:
    """Import every file. A file that cannot become a note is reported; a StorageError ends the import. A zip counts as
    a whole vault, single files do not."""
    report, budget, uploads = ImportReport(), ByteBudget(), list(uploads)
    whole = any(_is_zip(upload) for upload in uploads)
    files = list[tuple[Entry, note_file.File]]()
    for entry in unpacked(uploads, report):
        with _reported(report, entry.name):
            files.append((entry, _file(replace(entry, read=partial(budget.read, entry.read)))))
    marks = {entry.name: fingerprint(file.content) for entry, file in files}
    with ImportRun(service, UPLOADS, marks, whole=whole, overwrite=overwrite, secrets=secrets, space=space) as run:
        for entry, file in files:
            with _reported(report, entry.name):
                outcome = run.add(entry.name, entry.name, run.note(entry.name, file), file.content)
                report.saved += outcome == "saved"
                report.unchanged += outcome == "unchanged"
                if outcome == "newer":
                    report.newer.append(entry.name)
    return report


@contextmanager
def _reported(report: ImportReport, name: str) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except ChieError as error:
        report.refused[name] = error.reason


def write_zip(service: KnowledgeService, target: IO[bytes]) -> None:
    """One Markdown file per note; importing them elsewhere creates the same notes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for note in all_notes(service):
            moment = min(max(note.updated_at.astimezone(UTC), MIN_ZIP_TIME), MAX_ZIP_TIME)
            entry = zipfile.ZipInfo(note_file.file_name(note), moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, note_file.write(note))


def unpacked(uploads: Iterable[Upload], report: ImportReport) -> list[Entry]:
    """Every file, listed before the first is imported: a zip with too many files rejects the whole import, which must
    not have saved anything by then."""
    entries = list[Entry]()
    for upload in uploads:
        if not _is_zip(upload):
            entries.append(Entry(upload.name, partial(upload.file.read, MAX_FILE_BYTES + 1), upload.changed))
            continue
        try:
            archive = zipfile.ZipFile(upload.file)  # does not own the file, so there is nothing to close
            entries.extend(
                Entry(_name(entry), partial(_member, archive, entry), _changed(entry, upload.changed or now()))
                for entry in _entries(archive)
            )
        except ZIP_ERRORS as error:
            report.refused[upload.name] = Message("knowledge.zip_unreadable", error=type(error).__name__)
    return entries


def _is_zip(upload: Upload) -> bool:
    return upload.name.lower().endswith(".zip")


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with suppress(*ZIP_ERRORS):
        if entry.compress_type in SUPPORTED_COMPRESSION:
            with archive.open(entry) as content:
                return content.read(MAX_FILE_BYTES + 1)
    raise ValidationError("knowledge.zip_entry_unreadable")


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Markdown files and documents, without hidden folders and the resource forks that macOS adds."""
    entries = [
        entry
        for entry in archive.infolist()
        if entry.filename.lower().endswith(note_file.FILE_SUFFIXES + note_file.DOCUMENT_SUFFIXES)
        and not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(entry.filename).parts)
    ]
    if len(entries) > MAX_FILES:
        raise ValidationError("knowledge.zip_too_many_files", limit=MAX_FILES)
    return entries


def _changed(entry: zipfile.ZipInfo, latest: datetime) -> datetime | None:
    """Timestamps in a zip have no time zone, so one may seem later than the zip itself. The earliest possible timestamp
    means that there is none."""
    try:
        moment = datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return None
    return min(moment, latest) if moment > MIN_ZIP_TIME else None


def _name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are UTF-8 from macOS or Shift JIS from a Japanese Windows."""
    if entry.flag_bits & 0x800:
        return entry.filename
    raw = entry.filename.encode("cp437", "replace")
    for encoding in ("utf-8", "cp932"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _file(entry: Entry) -> note_file.File:
    """A file without a date was changed now."""
    name = entry.name.lower()
    if name.endswith(note_file.DOCUMENT_SUFFIXES):
        raise ValidationError("knowledge.document_unsupported")
    if not name.endswith(note_file.FILE_SUFFIXES):
        raise ValidationError("knowledge.file_type_unsupported")
    content = entry.read()
    if len(content) > MAX_FILE_BYTES:
        raise ValidationError("knowledge.file_too_large", limit=MAX_FILE_BYTES // MIB)
    return note_file.File(entry.name, content, entry.changed or now())
