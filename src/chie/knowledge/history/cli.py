"""Commands of `chie notes` for earlier versions and the trash."""

from dataclasses import asdict

import click

from chie.knowledge.cli.options import AS_JSON
from chie.knowledge.cli.shared import open_service, print_json
from chie.knowledge.history.history import PAGE, History
from chie.knowledge.results import SaveResult

ID = click.argument("note_id", metavar="ID")


@click.command()
@ID
@click.option("--version", type=click.IntRange(min=1), help="Print the note as it was in this version.")
@click.option("--limit", default=PAGE, show_default=True)
@click.option("--below", type=click.IntRange(min=1), help="Continue the list below this version.")
@AS_JSON
def history(note_id: str, version: int | None, limit: int, below: int | None, *, as_json: bool) -> None:
    """List the versions of a note, latest first."""
    with open_service() as service:
        if version is not None:
            note = History(service).version(note_id, version)
            if as_json:
                return print_json(asdict(note))
            click.secho(note.title, bold=True)
            return click.echo(f"\n{note.content}")
        page = History(service).versions(note_id, below=below, limit=limit)
    if as_json:
        return print_json(asdict(page))
    for one in page.versions:
        changes = f"  ({', '.join(one.changes)})" if one.changes else ""
        mark = "  current" if one.current else ""
        click.echo(f"{one.version:>4}  {one.at:%Y-%m-%d %H:%M} UTC  {one.kind}  {one.by}{changes}{mark}")
    if page.next_below:
        click.echo(f"More: chie notes history {note_id} --below {page.next_below}")
    return None


@click.command()
@ID
@click.option("--version", type=click.IntRange(min=1), help="Restore this version of a note that exists.")
@AS_JSON
def restore(note_id: str, version: int | None, *, as_json: bool) -> None:
    """Restore a note from the trash, or an earlier version of a note."""
    with open_service() as service:
        if version is None:
            note = History(service).restore_trashed(note_id)
            if as_json:
                return print_json(asdict(note))
            return click.echo(f"Restored {note.id}  {note.title}")
        saved = History(service).restore_version(note_id, version)
    if as_json:
        return print_json(asdict(SaveResult.of(saved)))
    return click.echo(f"Restored version {version} of {saved.id} as version {saved.version}  {saved.title}")


@click.command()
@AS_JSON
def trash(*, as_json: bool) -> None:
    """List deleted notes that can be restored, the latest first."""
    with open_service() as service:
        found = History(service).trash()
    if as_json:
        return print_json([asdict(one) for one in found])
    for one in found:
        dates = f"deleted {one.deleted_at:%Y-%m-%d} by {one.deleted_by}, kept until {one.expires_at:%Y-%m-%d}"
        click.echo(f"{one.id}  {click.style(one.title, bold=True)}  ({dates})")
    if not found:
        click.echo("The trash is empty.")
    return None


@click.command()
@ID
@click.option("--history", "versions", is_flag=True, help="Of a note that exists: delete its earlier versions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(note_id: str, *, versions: bool, yes: bool) -> None:
    """Delete a note in the trash for good, with all of its versions."""
    with open_service() as service:
        found = History(service)
        note = service.get(note_id) if versions else found.trashed(note_id)
        what = "the earlier versions of" if versions else "for good:"
        if not yes:
            click.confirm(f"Delete {what} {note.title}?", abort=True)
        if versions:
            found.forget(note_id)
        else:
            found.purge(note_id)
    click.echo(f"Deleted {what} {note.id}  {note.title}")


COMMANDS = (history, restore, trash, purge)
