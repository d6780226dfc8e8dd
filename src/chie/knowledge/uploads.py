"""Markdown files and zips of them that come over the wire, and notes that leave as a zip. Nothing touches the disk."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from chie.access.identity import current_user
from chie.errors import ChieError, StorageError, ValidationError
from chie.knowledge import markdown
from chie.knowledge.exchange import all_notes
from chie.knowledge.import_run import Intake
from chie.knowledge.note import Note, now
from chie.knowledge.rules import good_id
from chie.knowledge.service import KnowledgeService

MAX_FILE = 2 * 1024 * 1024
MAX_FILES = 10_000
MAX_TOTAL = 64 * 1024 * 1024

# What a zip's dates can be, in steps of two seconds.
EARLIEST, LATEST = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, 23, 59, 58, tzinfo=UTC)

# What zipfile and its decompressors raise at bytes that are damaged, encrypted or of a kind that they do not know.
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError),
)

# What everybody's zips have. The other kinds are unpacked without a limit: a few bytes could become gigabytes.
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Reader = Callable[[], bytes]


@dataclass(frozen=True)
class Upload:
    """`changed` is when its file was last changed, if whoever sent it said so."""

    name: str
    file: IO[bytes]
    changed: datetime | None = None


@dataclass(frozen=True)
class Entry:
    """A file that was sent, by itself or in a zip."""

    name: str
    read: Reader
    changed: datetime | None


@dataclass
class Received:
    """`newer` are files whose notes were changed here later and left alone; `refused` says, file by file, why it could
    not become a note."""

    saved: int = 0
    unchanged: int = 0
    newer: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


@dataclass
class Room:
    """What is left of one import: a few bytes of zip can become gigabytes, file by file."""

    left: int = field(default_factory=lambda: MAX_TOTAL)

    def read(self, read: Reader) -> bytes:
        if self.left <= 0:
            raise ValidationError(
                f"it was left out: one import takes {MAX_TOTAL // 1024 // 1024} MiB of text, unpacked, and that is "
                "used up. Import the rest by itself."
            )
        content = read()
        self.left -= len(content)
        return content


def receive(service: KnowledgeService, uploads: Iterable[Upload], *, overwrite: bool = False) -> Received:
    """A file that cannot become a note stops nothing; a failing store stops all."""
    report, intake, room = Received(), Intake(service, overwrite=overwrite), Room()
    for entry in unpacked(uploads, report):
        try:
            note = _note(service, replace(entry, read=partial(room.read, entry.read)))
            kept = intake.take(entry.name, note)
            report.saved += kept == "saved"
            report.unchanged += kept == "unchanged"
            if kept == "newer":
                report.newer.append(entry.name)
        except StorageError:
            raise
        except ChieError as error:
            report.refused[entry.name] = error.message
    return report


def write_zip(service: KnowledgeService, target: IO[bytes]) -> None:
    """One Markdown file a note; importing them elsewhere gives the same notes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for note in all_notes(service):
            moment = min(max(note.updated_at.astimezone(UTC), EARLIEST), LATEST)
            entry = zipfile.ZipInfo(markdown.file_name(note), moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, markdown.write(note))


def unpacked(uploads: Iterable[Upload], report: Received) -> Iterator[Entry]:
    for upload in uploads:
        if not upload.name.lower().endswith(".zip"):
            yield Entry(upload.name, partial(upload.file.read, MAX_FILE + 1), upload.changed)
            continue
        try:
            with zipfile.ZipFile(upload.file) as archive:
                for entry in _entries(archive):
                    changed = _changed(entry, upload.changed or now())
                    yield Entry(_name(entry), partial(_member, archive, entry), changed)
        except UNREADABLE as error:
            reason = f"it is not a zip that can be read ({type(error).__name__}). Zip the files anew."
            report.refused[upload.name] = reason


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with suppress(*UNREADABLE):
        if entry.compress_type in PACKED:
            with archive.open(entry) as content:
                return content.read(MAX_FILE + 1)
    raise ValidationError(
        "it cannot be read from its zip: it is damaged there, locked with a password, or packed in an unusual way. "
        "Zip the files anew, without a password."
    )


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Hidden folders are left out, as are the shadow files that macOS adds."""
    entries = [
        entry
        for entry in archive.infolist()
        if entry.filename.lower().endswith(markdown.ENDINGS)
        and not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(entry.filename).parts)
    ]
    if len(entries) > MAX_FILES:
        raise ValidationError(f"the zip has too many files: at most {MAX_FILES:,}. Split it.")
    return entries


def _changed(entry: zipfile.ZipInfo, latest: datetime) -> datetime | None:
    """A zip's dates name no time zone, so that one may seem to be later than the zip itself, which no file in it is.
    The earliest date that a zip can have is what it says where it knows none."""
    try:
        moment = datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return None
    return min(moment, latest) if moment > EARLIEST else None


def _name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 mark are UTF-8 from a Mac, or Shift JIS from a Japanese Windows."""
    if entry.flag_bits & 0x800:
        return entry.filename
    raw = entry.filename.encode("cp437", "replace")
    for encoding in ("utf-8", "cp932"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _content(name: str, read: Reader) -> str:
    if not name.lower().endswith(markdown.ENDINGS):
        raise ValidationError("it is not a Markdown or text file. Send .md, .txt or a .zip of them.")
    content = read()
    if len(content) > MAX_FILE:
        raise ValidationError(f"it is too large: at most {MAX_FILE // 1024 // 1024} MiB. Split it into several notes.")
    return markdown.decode(content)


def _note(service: KnowledgeService, entry: Entry) -> Note:
    """What comes without a date was changed now; where the note is here already, it keeps the date it was made."""
    name, moment = entry.name, entry.changed or now()
    text = _content(name, entry.read)
    note = markdown.parse(text, name=PurePosixPath(name).stem, source=name, changed=moment, owner=current_user().id)
    stored = service.find(good_id(note.id))
    if stored is None or note.created_at != moment:
        return note
    note = replace(note, created_at=stored.created_at)
    same = replace(note, updated_at=stored.updated_at)
    return same if same == stored else note
