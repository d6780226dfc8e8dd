"""`chie notes import`."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from chie.errors import ValidationError
from chie.knowledge.markdown.folder import ImportReport, document_files, import_files, markdown_files
from chie.knowledge.note import ImportedFile, Note
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.service import KnowledgeService

MAX_LISTED = 20  # names of files that are only mentioned


def import_folder(
    service: KnowledgeService,
    folder: Path,
    *,
    overwrite: bool,
    prune: bool,
    dry_run: bool,
    yes: bool,
    secrets: SecretPolicy = "refuse",
    space: str | None = None,
) -> bool:
    """Return whether every file was imported and everything was deleted that should be."""
    files = markdown_files(folder)
    if prune and not files:
        raise ValidationError("knowledge.prune_without_files", folder=str(folder))
    report = import_files(
        service,
        files,
        folder=folder,
        overwrite=overwrite,
        dry_run=dry_run,
        secrets=secrets,
        space=space,
        progress=_progress,
    )
    _print(report, document_files(folder), dry_run=dry_run)
    pruned = _prune(service, report.left, dry_run=dry_run, yes=yes) if prune else _mention(report.left)
    return pruned and not report.refused


def _progress(files: Sequence[Path]) -> Iterable[Path]:
    with click.progressbar(files, label="Importing", file=sys.stderr) as bar:
        yield from bar


def _print(report: ImportReport, documents: Sequence[Path], *, dry_run: bool) -> None:
    saved = "would be saved" if dry_run else "saved"
    details = f" ({len(report.new)} new, {len(report.changed)} changed)" if report.changed else ""
    click.echo(f"{report.saved} {saved}{details}, {report.unchanged} unchanged, {len(report.refused)} rejected")
    if dry_run:
        _list_files("new", report.new)
        _list_files("changed", report.changed)
    if report.newer:
        click.echo(f"{len(report.newer)} kept: changed in Chie after these files. --overwrite replaces them:")
    for path in report.newer:
        click.echo(f"  {path}", err=True)
    for path, reason in report.refused.items():
        click.echo(f"  {path}: {reason}", err=True)
    if any(reason.code == "knowledge.secret_found" for reason in report.refused.values()):
        click.echo("--secrets mask imports such files with the values masked, --secrets allow as they are.")
    if documents:
        click.echo(f"{len(documents)} skipped: PDF, Office and e-book files cannot be read yet:")
    _list_files("", documents)


def _list_files(what: str, files: Sequence[Path]) -> None:
    for path in files[:MAX_LISTED]:
        click.echo(f"  {what}{'  ' if what else ''}{path}", err=True)
    if len(files) > MAX_LISTED:
        click.echo(f"  … and {len(files) - MAX_LISTED} more", err=True)


def _mention(left: Mapping[str, ImportedFile]) -> bool:
    if left:
        click.echo(f"{len(left)} notes have no file in the folder any more. --prune shows and deletes them.")
    return True


def _prune(service: KnowledgeService, left: Mapping[str, ImportedFile], *, dry_run: bool, yes: bool) -> bool:
    """Notes that were changed in Chie are kept: what they say is nowhere else."""
    notes = [(note, file) for note_id, file in left.items() if (note := service.find(note_id))]
    edited = [pair for pair in notes if pair[0].updated_at != pair[1].version]
    gone = [pair for pair in notes if pair not in edited]
    if edited:
        click.echo(f"{len(edited)} have no file any more, but were changed in Chie and are kept:")
        _list(edited)
    if not gone:
        click.echo("Nothing to delete.")
        return True
    click.echo(f"{len(gone)} {'would be deleted' if dry_run else 'to delete'}, because their files are gone:")
    _list(gone)
    if dry_run:
        return True
    if not yes:
        if not has_terminal():
            raise ValidationError("knowledge.prune_needs_yes")
        if not click.confirm(f"Delete {len(gone)} {'note' if len(gone) == 1 else 'notes'}?"):
            click.echo("Nothing was deleted.")
            return True
    for note, _ in gone:
        service.delete(note.id, seen=note.updated_at)
    click.echo(f"{len(gone)} deleted")
    return True


def has_terminal() -> bool:
    return sys.stdin.isatty()


def _list(notes: Sequence[tuple[Note, ImportedFile]]) -> None:
    for note, file in notes:
        click.echo(f"  {note.id}  {note.title}  ({file.path})")
