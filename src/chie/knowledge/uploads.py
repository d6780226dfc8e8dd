"""Markdown files and zips of them that come over the wire, and notes that leave as a zip. Nothing touches the disk."""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import IO

from chie.access.identity import current_user
from chie.errors import ChieError, StorageError, ValidationError
from chie.knowledge import markdown
from chie.knowledge.exchange import all_headings
from chie.knowledge.note import Note, now
from chie.knowledge.service import KnowledgeService

MARKDOWN = (".md", ".markdown", ".txt")
MAX_FILE = 2 * 1024 * 1024
MAX_FILES = 10_000

Upload = tuple[str, IO[bytes]]


@dataclass
class Received:
    """`refused` says, file by file, why it could not become a note."""

    saved: int = 0
    unchanged: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def receive(service: KnowledgeService, uploads: Iterable[Upload]) -> Received:
    """A file that cannot become a note stops nothing; a failing store stops all."""
    report = Received()
    for name, file in _unpacked(uploads, report):
        try:
            note = _note(service, name, _content(name, file))
            if service.keep(note):
                report.saved += 1
            else:
                report.unchanged += 1
        except StorageError:
            raise
        except ChieError as error:
            report.refused[name] = error.message
    return report


def write_zip(service: KnowledgeService, target: IO[bytes]) -> None:
    """One Markdown file a note; importing them elsewhere gives the same notes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for heading in all_headings(service):
            note = service.get(heading.id)
            moment = max(note.updated_at.astimezone(UTC), datetime(1980, 1, 1, tzinfo=UTC))
            entry = zipfile.ZipInfo(markdown.file_name(note), moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, markdown.write(note))


def _unpacked(uploads: Iterable[Upload], report: Received) -> Iterator[Upload]:
    for name, file in uploads:
        if not name.lower().endswith(".zip"):
            yield name, file
            continue
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in _entries(archive):
                    with archive.open(entry) as content:
                        yield _name(entry), content
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            report.refused[name] = f"it is not a zip that can be read ({type(error).__name__}). Zip the files anew."


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Hidden folders are left out, as are the shadow files that macOS adds."""
    entries = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir()
        and entry.filename.lower().endswith(MARKDOWN)
        and not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(entry.filename).parts)
    ]
    if len(entries) > MAX_FILES:
        raise ValidationError(f"the zip has too many files: at most {MAX_FILES:,}. Split it.")
    return entries


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


def _content(name: str, file: IO[bytes]) -> str:
    if not name.lower().endswith(MARKDOWN):
        raise ValidationError("it is not a Markdown or text file. Send .md, .txt or a .zip of them.")
    content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ValidationError(f"it is too large: at most {MAX_FILE // 1024 // 1024} MiB. Split it into several notes.")
    return markdown.decode(content)


def _note(service: KnowledgeService, name: str, text: str) -> Note:
    """What came over the wire has lost its dates; where the note is here already, it keeps those it has."""
    moment = now()
    note = markdown.parse(text, name=PurePosixPath(name).stem, source=name, changed=moment, owner=current_user().id)
    stored = service.find(note.id)
    if stored is None or note.created_at != moment:
        return note
    note = replace(note, created_at=stored.created_at)
    same = replace(note, updated_at=stored.updated_at)
    return same if same == stored else note
