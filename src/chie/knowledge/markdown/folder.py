"""Import and export of folders of Markdown, one file per note. Both can be interrupted and run again."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from chie.access.identity import current_user
from chie.errors import ChieError, StorageError, ValidationError
from chie.files import replacing
from chie.knowledge.markdown import note_file
from chie.knowledge.markdown.import_run import ImportRun
from chie.knowledge.markdown.vault import fingerprint, vault_key
from chie.knowledge.note import Heading, ImportedFile, Note
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.service import ImportOutcome, KnowledgeService
from chie.knowledge.validation import MAX_LIMIT, is_plain
from chie.messages.catalogue import Message

MTIME_TOLERANCE_SECONDS = 2.0  # the resolution of some file systems

Progress = Callable[[Sequence[Path]], Iterable[Path]]


@dataclass
class ImportReport:
    """`new` and `changed` are the files that were saved, or would be. `newer` are files whose notes were changed in
    Chie later and left alone. `left` are notes whose files are no longer in the folder."""

    unchanged: int = 0
    new: list[Path] = field(default_factory=list)
    changed: list[Path] = field(default_factory=list)
    newer: list[Path] = field(default_factory=list)
    refused: dict[Path, Message] = field(default_factory=dict)
    left: dict[str, ImportedFile] = field(default_factory=dict)

    @property
    def saved(self) -> int:
        return len(self.new) + len(self.changed)

    def count(self, path: Path, outcome: ImportOutcome, *, was_stored: bool) -> None:
        if outcome == "unchanged":
            self.unchanged += 1
        elif outcome == "newer":
            self.newer.append(path)
        else:
            (self.changed if was_stored else self.new).append(path)


def markdown_files(folder: Path) -> list[Path]:
    """Markdown files outside hidden folders, where Obsidian keeps its settings and trash."""
    return _files(folder, note_file.FILE_SUFFIXES)


def document_files(folder: Path) -> list[Path]:
    """Files with text that cannot be imported yet."""
    return _files(folder, note_file.DOCUMENT_SUFFIXES)


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    if not folder.is_dir():
        raise ValidationError("knowledge.folder_not_found", folder=str(folder))
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.lower().endswith(suffixes)
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def import_files(
    service: KnowledgeService,
    files: Sequence[Path],
    *,
    folder: Path | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    secrets: SecretPolicy = "refuse",
    space: str | None = None,
    progress: Progress = iter,
) -> ImportReport:
    """Import every file of a folder. A file that cannot become a note, or a symlink out of the folder, is reported; a
    StorageError ends the import.
    """
    report = ImportReport()
    folder = folder or Path(os.path.commonpath([str(path.parent) for path in files] or ["."]))
    paths = {path: vault_path(path, folder) for path in files}
    by_path = {name: path.resolve().as_uri() for path, name in paths.items()}
    key = vault_key(folder, current_user().id)
    marks = _fingerprints(paths, folder)
    with ImportRun(
        service,
        key,
        marks,
        key_of=by_path.__getitem__,
        overwrite=overwrite,
        dry_run=dry_run,
        secrets=secrets,
        space=space,
    ) as run:
        for path in progress(files):
            try:
                _require_inside(path, folder)
                file = note_file.File.of(path)
                note = run.note(paths[path], file)
                outcome = run.add(str(path), paths[path], note, file.content)
                report.count(path, outcome, was_stored=run.was_stored(note))
            except StorageError:
                raise
            except ChieError as error:
                report.refused[path] = error.reason
    present = set(paths.values())
    report.left = {note_id: file for note_id, file in run.vault.left().items() if file.path not in present}
    return report


def vault_path(path: Path, folder: Path) -> str:
    """Relative to the folder, and readable: without the bytes of names that are not UTF-8."""
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _fingerprints(paths: Mapping[Path, str], folder: Path) -> dict[str, str]:
    """Of the files that can be read."""
    found = {}
    for path, name in paths.items():
        with suppress(ValidationError):
            _require_inside(path, folder)
            found[name] = fingerprint(note_file.File.of(path).content)
    return found


def _require_inside(path: Path, folder: Path) -> None:
    """A downloaded folder may contain symlinks to files that its user did not mean to share. Hidden folders are not
    imported through a symlink either."""
    target, root = path.resolve(), folder.resolve()
    if not target.is_relative_to(root) or any(part.startswith(".") for part in target.relative_to(root).parts):
        raise ValidationError("knowledge.symlink_outside_folder")


def export_notes(service: KnowledgeService, folder: Path) -> Iterator[Path]:
    """Write the files one by one, each atomically."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for note in all_notes(service):
            path = folder / note_file.file_name(note)
            with replacing(path, private=False) as draft:
                draft.write_text(note_file.write(note), encoding="utf-8", newline="")
                _set_modified(draft, note.updated_at)
            yield path
    except OSError as error:
        raise StorageError(
            "knowledge.export_failed", folder=str(folder), reason=error.strerror or type(error).__name__
        ) from error


def remove_outdated(service: KnowledgeService, folder: Path, written: Collection[Path]) -> list[Path]:
    """Delete files of earlier exports whose notes are `written` under a new title, because an import would take them
    for the note. Edited files, and files of notes that do not exist here, are kept and returned."""
    left = []
    for path in sorted(folder.glob("*.md")):
        old = None if path in written else note_file.exported(path)
        if old is None:
            continue
        note = service.find(old.id) if is_plain(old.id) else None
        current = folder / note_file.file_name(note) if note else None
        if current and current.exists() and current.samefile(path):  # a case-insensitive file system
            continue
        if current not in written or not _removed(path, old):
            left.append(path)
    return left


def _removed(path: Path, old: Note) -> bool:
    with suppress(OSError):
        if _is_untouched(path, old):
            path.unlink()
            return True
    return False


def _is_untouched(path: Path, old: Note) -> bool:
    """Whether content, name and modification time are as exported."""
    as_written = path.name == note_file.file_name(old) and path.read_bytes() == note_file.write(old).encode()
    return as_written and abs(path.stat().st_mtime - old.updated_at.timestamp()) <= MTIME_TOLERANCE_SECONDS


def _set_modified(path: Path, moment: datetime) -> None:
    """A file gets the date of its note. File systems do not support all years."""
    with suppress(OSError, ValueError, OverflowError):
        os.utime(path, (moment.timestamp(), moment.timestamp()))


def all_notes(service: KnowledgeService) -> Iterator[Note]:
    """Notes that are deleted or hidden meanwhile are left out."""
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
