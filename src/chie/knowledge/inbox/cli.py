"""`chie inbox`: proposals of assistants on the command line."""

from dataclasses import asdict
from datetime import datetime

import click

from chie.errors import ValidationError
from chie.knowledge.cli.options import AS_JSON, SEEN
from chie.knowledge.cli.shared import echo_notice, open_service, print_json, standard_input
from chie.knowledge.inbox.inbox import Inbox
from chie.knowledge.results import SaveResult

ID = click.argument("note_id", metavar="ID")


@click.group(invoke_without_command=True)
@AS_JSON
@click.pass_context
def inbox(ctx: click.Context, *, as_json: bool) -> None:
    """Decide on notes that assistants propose. Without a command, lists them, oldest first."""
    if ctx.invoked_subcommand is not None:
        return
    with open_service() as service:
        listed = Inbox(service)
        proposals, total = listed.proposals(), listed.count()
    if as_json:
        print_json({"proposals": list(map(asdict, proposals)), "total": total})
        return
    for proposal in proposals:
        note = proposal.note
        click.echo(f"{note.id}  {note.created_at:%Y-%m-%d}  {note.user_id}  {click.style(note.title, bold=True)}")
        for similar in proposal.similar:
            click.echo(f"      similar to {similar.id}  {similar.title}  ({similar.score:.2f})")
    if total > len(proposals):
        click.echo(f"{total - len(proposals)} more wait.")
    if not proposals:
        click.echo("No proposals.")


@inbox.command()
@ID
@AS_JSON
def show(note_id: str, *, as_json: bool) -> None:
    """Print a whole proposal."""
    with open_service() as service:
        note = Inbox(service).get(note_id)
    if as_json:
        return print_json(asdict(note))
    click.secho(note.title, bold=True)
    click.echo(f"{note.user_id} · {note.created_at:%Y-%m-%d %H:%M} UTC\n\n{note.content}")
    for question in note.questions:
        click.echo(f"question: {question}")
    for signature in note.signatures:
        click.echo(f"error: {signature}")
    return None


@inbox.command()
@ID
@SEEN
@AS_JSON
def accept(note_id: str, seen: datetime | None, *, as_json: bool) -> None:
    """Make a proposal a note, confirmed by you."""
    with open_service() as service:
        note = Inbox(service).accept(note_id, seen=seen)
    if as_json:
        return print_json(asdict(note))
    return click.echo(f"Accepted {note.id}  {note.title}")


@inbox.command()
@ID
@SEEN
@AS_JSON
def reject(note_id: str, seen: datetime | None, *, as_json: bool) -> None:
    """Delete a proposal."""
    with open_service() as service:
        note = Inbox(service).reject(note_id, seen=seen)
    if as_json:
        return print_json(asdict(note))
    return click.echo(f"Rejected {note.id}  {note.title}")


@inbox.command()
@ID
@click.argument("into", metavar="INTO")
@click.option("--content", help="The merged text; `-` reads it from standard input. Without it, your editor opens.")
@SEEN
@AS_JSON
def merge(note_id: str, into: str, content: str | None, seen: datetime | None, *, as_json: bool) -> None:
    """Write a proposal into the existing note INTO, and remove the proposal. It is a conflict if either changes while
    your editor is open."""
    with open_service() as service:
        proposals, seen_into = Inbox(service), None
        if content is None:
            target, proposal = service.get(into), proposals.get(note_id)
            seen, seen_into = seen or proposal.updated_at, target.updated_at
            content = _edited(target.content, proposal.content)
        elif content == "-":
            content = standard_input()
        saved = proposals.merge(note_id, into, content=content, seen=seen, seen_into=seen_into)
    if as_json:
        return print_json(asdict(SaveResult.of(saved)))
    click.echo(f"Merged into {saved.id}  {saved.title}")
    return echo_notice(saved.notice)


@inbox.command()
@ID
@AS_JSON
def undo(note_id: str, *, as_json: bool) -> None:
    """Take back your last decision on a proposal, within a day and unless the note has changed since."""
    with open_service() as service:
        note = Inbox(service).undo(note_id)
    if as_json:
        return print_json(asdict(note))
    return click.echo(f"Waits again: {note.id}  {note.title}")


def _edited(existing: str, proposed: str) -> str:
    """Both texts, as the user leaves them in the editor. Closing it without saving merges nothing."""
    edited = click.edit(f"{existing.rstrip()}\n\n{proposed.rstrip()}\n", extension=".md")
    if edited is None:
        raise ValidationError("knowledge.cli_merge_cancelled")
    return edited
