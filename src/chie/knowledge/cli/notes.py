"""`chie notes`: notes on the command line, for people and scripts."""

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.anchors.cli import touched
from chie.knowledge.cli.migrate import migrate
from chie.knowledge.cli.options import AS_JSON, FOLDER, SECRETS, SEEN, SPACE, TAGS
from chie.knowledge.cli.shared import echo_notice, open_service, print_json, standard_input
from chie.knowledge.history.cli import COMMANDS
from chie.knowledge.markdown.folder import export_notes, remove_outdated
from chie.knowledge.note import TEAM, Heading, Hit, NoteLink, Page
from chie.knowledge.results import SaveResult, SearchResult
from chie.knowledge.review.command import review
from chie.knowledge.screening.cli import scan_notes
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import MAX_LIMIT

if TYPE_CHECKING:
    from datetime import datetime

    from chie.knowledge.screening.screen import SecretPolicy


@click.group()
def notes() -> None:
    """Save, find and move the team's notes."""


notes.add_command(scan_notes)
notes.add_command(review)
notes.add_command(touched)
notes.add_command(migrate)
for command in COMMANDS:
    notes.add_command(command)


@notes.command()
@click.argument("content")
@click.option("--title", help="Derived from the content if absent.")
@TAGS
@click.option("--source", help="Origin: a file, a URL, a repository.")
@SPACE
@click.option("--private", is_flag=True, help="Visible only to you, the user in CHIE_USER.")
@click.option("--supersedes", multiple=True, metavar="ID", help="A note that this one replaces; may be repeated.")
@SECRETS
@AS_JSON
def save(
    content: str,
    title: str | None,
    tags: tuple[str, ...],
    source: str | None,
    space: str | None,
    *,
    private: bool,
    supersedes: tuple[str, ...],
    secrets: "SecretPolicy",
    as_json: bool,
) -> None:
    """Save a note; `-` reads the content from standard input."""
    if content == "-":
        content = standard_input()
    with open_service() as service:
        saved = service.save(
            content,
            title=title,
            tags=tags,
            source=source,
            space=space,
            private=private,
            supersedes=supersedes,
            origin="person",
            secrets=secrets,
        )
    if as_json:
        return print_json(asdict(SaveResult.of(saved)))
    click.echo(f"Saved {saved.id}  {saved.title}")
    for similar in saved.similar:
        click.echo(f"  similar to {similar.id}  {similar.title}  ({similar.score:.2f})")
    echo_notice(saved.notice)
    return None


@notes.command()
@click.argument("query")
@click.option("--limit", default=10, show_default=True)
@TAGS
@SPACE
@click.option("--at", help="Search what was known on this date, such as 2026-03-01.")
@AS_JSON
def search(query: str, limit: int, tags: tuple[str, ...], space: str | None, at: str | None, *, as_json: bool) -> None:
    """Find notes by meaning, in Japanese or English.

    Filters: tag:docker -tag:old author:aki space:ops after:2026-03 before:2026-03-01 at:2026-03-01 "exact phrase" -word
    """
    with open_service() as service:
        found = service.search(query, limit=limit, tags=tags, space=space, at=at)
    if as_json:
        return print_json(asdict(SearchResult.of(found)))
    for hit in found.hits:
        title = click.style(hit.title, bold=True)
        click.echo(f"{hit.score:.2f}  {hit.id}  {title}{_marks(hit)}{_labels(hit.tags)}")
        _print_superseding(hit.superseded_by)
        click.echo(f"      {' '.join(hit.content.split())[:160]}")
    if not found.hits:
        click.echo("No note matches. `chie notes list` shows all notes.")
    echo_notice(found.notice)
    return None


@notes.command("list")
@click.option("--tag", help="Only notes that have this tag.")
@SPACE
@click.option("--limit", default=20, show_default=True, help="May be larger than 100.")
@click.option("--all", "every", is_flag=True, help="List all notes.")
@click.option("--cursor", help="Cursor of the previous page.")
@AS_JSON
def list_(tag: str | None, space: str | None, limit: int, cursor: str | None, *, every: bool, as_json: bool) -> None:
    """List notes, newest first."""
    with open_service() as service:
        page = _long_page(service, tag, space, None if every else limit, cursor)
    if as_json:
        return print_json(asdict(page))
    for note in page.notes:
        marks = _marks(note) + _labels(note.tags)
        click.echo(f"{note.id}  {note.created_at:%Y-%m-%d}  {note.title}{marks}")
    if page.next_cursor:
        options = [
            *(["--tag", tag] if tag else []),
            *(["--space", space] if space else []),
            "--limit",
            str(limit),
            "--cursor",
            page.next_cursor,
        ]
        click.echo(f"More: chie notes list {shlex.join(options)}")
    if not page.notes:
        click.echo(f"No notes{' with this tag' if tag else ''}.")
    return None


def _long_page(
    service: KnowledgeService, tag: str | None, space: str | None, limit: int | None, cursor: str | None
) -> Page:
    """One page for the reader, of any length; the service returns at most `MAX_LIMIT` notes at once."""
    notes = list[Heading]()
    while True:
        size = MAX_LIMIT if limit is None else min(MAX_LIMIT, limit - len(notes))
        page = service.browse(tag=tag, space=space, limit=size, cursor=cursor)
        notes += page.notes
        cursor = page.next_cursor
        if cursor is None or len(notes) == limit:
            return Page(notes=notes, next_cursor=cursor)


@notes.command()
@click.argument("note_id", metavar="ID")
@AS_JSON
def show(note_id: str, *, as_json: bool) -> None:
    """Print one whole note."""
    with open_service() as service:
        note = service.get(note_id)
        newer = service.superseded_by(note.id)
    if as_json:
        shown = {name: value for name, value in asdict(note).items() if (name, value) != ("anchor", None)}
        return print_json(shown | ({"superseded_by": list(map(asdict, newer))} if newer else {}))
    click.secho(note.title, bold=True)
    _print_superseding(newer)
    about = [
        note.user_id,
        f"{note.updated_at:%Y-%m-%d %H:%M} UTC",
        *([note.source] if note.source else []),
        *([f"space {note.space}"] if note.space != TEAM else []),
        *(["private"] if note.private else []),
    ]
    click.echo(" · ".join(about) + _labels(note.tags))
    click.echo(f"\n{note.content}")
    return None


@notes.command()
@click.argument("note_id", metavar="ID")
@SEEN
def delete(note_id: str, seen: "datetime | None") -> None:
    """Move one note to the trash."""
    with open_service() as service:
        service.delete(note_id, seen=seen)
    click.echo(f"Deleted {note_id}")


@notes.command()
@click.argument("note_id", metavar="ID")
@click.option("--withdraw", is_flag=True, help="Take the confirmation back.")
@SEEN
def confirm(note_id: str, seen: "datetime | None", *, withdraw: bool) -> None:
    """Say that a note is right, so that hooks may show it to the team."""
    with open_service() as service:
        note = service.confirm(note_id, confirmed=not withdraw, seen=seen)
    click.echo(f"{'No longer confirmed' if withdraw else 'Confirmed'}: {note.id}  {note.title}")


@notes.command()
@click.argument("note_id", metavar="ID")
@click.argument("space")
def move(note_id: str, space: str) -> None:
    """Move a note to another space."""
    with open_service() as service:
        saved = service.update(note_id, space=space, by="person")
    click.echo(f"Moved {saved.id} to {saved.space}")


@notes.command("import")
@FOLDER
@SPACE
@click.option("--overwrite", is_flag=True, help="Also replace notes that were changed in Chie after their files.")
@click.option("--prune", is_flag=True, help="Also delete notes whose files are no longer in the folder.")
@click.option("--dry-run", is_flag=True, help="Change nothing; show what would be done.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@SECRETS
def import_(
    folder: Path,
    space: str | None,
    *,
    overwrite: bool,
    prune: bool,
    dry_run: bool,
    yes: bool,
    secrets: "SecretPolicy",
) -> None:
    """Import a folder of Markdown and text files, such as an Obsidian vault.

    Running it again continues where it stopped and updates what has changed since. Notes that were changed in Chie
    after their files are kept.
    """
    from chie.knowledge.cli.imports import import_folder

    with open_service() as service:
        complete = import_folder(
            service, folder, overwrite=overwrite, prune=prune, dry_run=dry_run, yes=yes, secrets=secrets, space=space
        )
    if not complete:
        sys.exit(1)


@notes.command()
@FOLDER
def export(folder: Path) -> None:
    """Write every note as a Markdown file; importing them elsewhere creates the same notes."""
    with open_service() as service:
        total = service.count()
        with click.progressbar(export_notes(service, folder), length=total, label="Exporting", file=sys.stderr) as bar:
            written = set(bar)
        left = remove_outdated(service, folder, written)
    click.echo(f"{len(written)} notes written to {folder}")
    if left:
        click.echo(
            f"{len(left)} files of earlier exports were kept, because they were edited or their notes do not exist. "
            "Importing the folder would import them:"
        )
    for path in left:
        click.echo(f"  {path}", err=True)


def _marks(note: Heading | Hit) -> str:
    """Who else sees it: the readers of a space, nobody, or nobody until the proposal is accepted."""
    space = "" if note.space == TEAM else f"  ({note.space})"
    return space + "  (private)" * note.private + "  (waiting)" * note.proposal


def _print_superseding(newer: list[NoteLink]) -> None:
    for link in newer:
        click.echo(f"      superseded by {link.id}  {link.title}")


def _labels(tags: list[str]) -> str:
    return "".join(click.style(f"  #{tag}", dim=True) for tag in tags)
