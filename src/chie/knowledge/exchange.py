"""Folders of Markdown in and out, one file a note; either can be stopped anywhere and run again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chie.access.identity import current_user
from chie.errors import ChieError, StorageError, ValidationError
from chie.knowledge import markdown
from chie.knowledge.intake import Intake
from chie.knowledge.note import Heading, Note
from chie.knowledge.rules import MAX_LIMIT
from chie.knowledge.service import KnowledgeService

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
            draft = path.with_suffix(".part")
            draft.write_text(markdown.write(note), encoding="utf-8", newline="")
            draft.replace(path)
            yield path
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror}. Name another folder, or free some space."
        ) from error


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
