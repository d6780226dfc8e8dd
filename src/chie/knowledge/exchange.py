"""Folders of Markdown in and out, one file a note; either can be stopped anywhere and run again."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from chie.access.identity import current_user
from chie.errors import ChieError, StorageError, ValidationError
from chie.files import replacing
from chie.knowledge import markdown
from chie.knowledge.import_run import Intake
from chie.knowledge.note import Heading, Note
from chie.knowledge.rules import MAX_LIMIT, is_plain
from chie.knowledge.service import KnowledgeService

DISK_SECONDS = 2.0  # by which a disk may miss a date

Progress = Callable[[Iterable[Path]], Iterable[Path]]


@dataclass
class Report:
    """`newer` are the files whose notes were changed here later: these are left alone."""

    saved: int = 0
    unchanged: int = 0
    newer: list[Path] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)


def markdown_files(folder: Path) -> list[Path]:
    """Hidden folders are left out: an Obsidian vault keeps its settings and its trash there."""
    if not folder.is_dir():
        raise ValidationError(f"{folder} is not a folder. Name one that holds Markdown files.")
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.lower().endswith(markdown.ENDINGS)
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def import_files(service: KnowledgeService, files: Iterable[Path], *, overwrite: bool = False) -> Report:
    """A file that cannot become a note is named in the report and stops nothing; a failing store stops all."""
    report, intake = Report(), Intake(service, overwrite=overwrite)
    for path in files:
        try:
            kept = intake.take(str(path), markdown.read(path, owner=current_user().id))
            report.saved += kept == "saved"
            report.unchanged += kept == "unchanged"
            if kept == "newer":
                report.newer.append(path)
        except StorageError:
            raise
        except ChieError as error:
            report.refused[path] = error.message
    return report


def export_notes(service: KnowledgeService, folder: Path) -> Iterator[Path]:
    """Writes one file after the other; each is whole or absent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for note in all_notes(service):
            path = folder / markdown.file_name(note)
            with replacing(path, private=False) as draft:
                draft.write_text(markdown.write(note), encoding="utf-8", newline="")
                _date(draft, note.updated_at)
            yield path
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror}. Name another folder, or free some space."
        ) from error


def tidy(service: KnowledgeService, folder: Path, written: Collection[Path]) -> list[Path]:
    """What earlier exports left in the folder beside the files just `written`. A note's file under an older title goes,
    if nobody has edited it: an import would take it for the note. The others are left and returned: somebody edited
    them, or their notes are not here, and then they may be the last that there is of them."""
    left = []
    for path in sorted(folder.glob("*.md")):
        old = None if path in written else markdown.exported(path)
        if old is None:
            continue
        note = service.find(old.id) if is_plain(old.id) else None
        now = folder / markdown.file_name(note) if note else None
        if now and now.exists() and now.samefile(path):  # spelt otherwise, on a disk to which that is the same
            continue
        if now not in written or not _removed(path, old):
            left.append(path)
    return left


def _removed(path: Path, old: Note) -> bool:
    with suppress(OSError):
        if _is_untouched(path, old):
            path.unlink()
            return True
    return False


def _is_untouched(path: Path, old: Note) -> bool:
    """As we wrote it, with the date that we gave it; some disks know seconds alone, or every other one."""
    as_written = path.name == markdown.file_name(old) and path.read_bytes() == markdown.write(old).encode()
    return as_written and abs(path.stat().st_mtime - old.updated_at.timestamp()) <= DISK_SECONDS


def _date(path: Path, moment: datetime) -> None:
    """A file is as old as its note, as in a zip. Not every disk knows the first years of the calendar, or the last."""
    with suppress(OSError, ValueError, OverflowError):
        os.utime(path, (moment.timestamp(), moment.timestamp()))


def all_notes(service: KnowledgeService) -> Iterator[Note]:
    """Those that somebody deletes or hides meanwhile are left out."""
    notes = (service.find(heading.id) for heading in all_headings(service))
    return (note for note in notes if note is not None)


def all_headings(service: KnowledgeService) -> Iterator[Heading]:
    cursor = None
    while True:
        page = service.browse(limit=MAX_LIMIT, cursor=cursor)
        yield from page.notes
        cursor = page.next_cursor
        if cursor is None:
            return
