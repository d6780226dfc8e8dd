"""The `chie n8n` commands: workflows as files in a folder."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chie.errors import ChieError, ForbiddenError, NotFoundError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from chie.n8n.folder.comparison import Entry
    from chie.n8n.folder.push import Pushed
    from chie.n8n.models import Json, Workflow
    from chie.n8n.settings import N8nSettings
    from chie.n8n.tool import ToolContext

T = TypeVar("T")

ERROR_EXIT_CODE = 2  # 1 means that something differs
STATES = {"changed": "changed", "only_in_folder": "only in the folder", "only_in_n8n": "only in n8n"}

FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class _CommandError(click.ClickException):
    exit_code = ERROR_EXIT_CODE


class _Group(click.Group):
    """Errors end with their own exit code, so that a pipeline can tell them from a difference."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        try:
            return super().invoke(ctx)
        except ChieError as error:
            from chie.installation.commands import followable

            raise _CommandError(followable(error.message)) from error


@click.group(cls=_Group)
def n8n() -> None:
    """Keep the workflows of n8n as files in a folder, for review and history in Git."""


@n8n.command("export")
@FOLDER
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--prune", is_flag=True, help="Delete the files of workflows that n8n no longer has.")
@JSON
def export_command(folder: Path, ids: tuple[str, ...], *, prune: bool, as_json: bool) -> None:
    """Write every workflow, or those with an ID, as a JSON file. A file keeps its name when the workflow is renamed."""
    from dataclasses import asdict

    from chie.files import locked, make_folder
    from chie.n8n.folder.export import export
    from chie.n8n.folder.folder import WorkflowFolder

    if prune and ids:
        raise ValidationError("n8n.prune_with_ids")
    settings = _settings()
    workflows = _run(settings, lambda context: _workflows(context, ids))
    home = settings.home.expanduser()
    make_folder(home)
    with locked(home / "n8n-folder.lock"):
        result = export(WorkflowFolder(folder), workflows, prune=prune, whole=not ids)
    if as_json:
        return click.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2))
    for label, names in (("written", result.written), ("deleted", result.deleted), ("not in n8n", result.orphaned)):
        for name in names:
            click.echo(f"{label}: {name}")
    click.echo(f"{len(result.written)} written, {result.unchanged} unchanged, {len(result.deleted)} deleted.")
    if result.orphaned:
        click.echo("Files of workflows that n8n does not have stay; --prune deletes them.")
    return None


@n8n.command("diff")
@FOLDER
@click.option("--files-only", is_flag=True, help="Ignore workflows that have no file.")
@JSON
def diff_command(folder: Path, *, files_only: bool, as_json: bool) -> None:
    """Show what differs between a folder and n8n. The exit code is 0 if nothing does, 1 if something does, else 2."""
    entries = _run(_settings(), lambda context: _compare(context, folder))
    shown = [one for one in entries if one.state != "same" and not (files_only and one.state == "only_in_n8n")]
    if as_json:
        click.echo(json.dumps([entry.as_json() for entry in shown], ensure_ascii=False, indent=2))
    else:
        _show(shown)
        click.echo(f"{len(entries)} workflows compared, {len(shown)} differ.")
    sys.exit(1 if shown else 0)


@n8n.command("push")
@FOLDER
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--dry-run", is_flag=True, help="Only show what would change; the exit code is 1 if something would.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@JSON
def push_command(folder: Path, files: tuple[str, ...], *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Write the workflows of a folder, or those of each FILE, to n8n; missing ones are created. Nothing is deleted.

    Each workflow is backed up, validated and read back. The new version of a published workflow is live at once; a new
    workflow stays unpublished.
    """
    settings = _settings()
    if settings.read_only and not dry_run:
        raise ForbiddenError("n8n.read_only")
    names = {Path(file).name for file in files}
    entries = [one for one in _run(settings, lambda context: _compare(context, folder)) if one.file]
    if unknown := sorted(names - {one.file.path.name for one in entries if one.file}):
        raise NotFoundError("n8n.workflow_file_missing", files=unknown)
    todo = [one for one in entries if one.state != "same" and one.file and (not names or one.file.path.name in names)]
    if not as_json:
        _show(todo)
    if dry_run or not todo:
        if as_json:
            click.echo(json.dumps([entry.as_json() for entry in todo], ensure_ascii=False, indent=2))
        elif not todo:
            click.echo("Nothing to push: n8n has these workflows already.")
        sys.exit(1 if todo else 0)
    _confirm(todo, yes=yes)
    results = _run(settings, lambda context: _push(context, folder, todo))
    _report(results, as_json=as_json)
    sys.exit(ERROR_EXIT_CODE if any(result.error for result in results) else 0)


def _settings() -> "N8nSettings":
    from chie.n8n.settings import N8nSettings
    from chie.settings import load

    return load(N8nSettings)


def _run(settings: "N8nSettings", work: "Callable[[ToolContext], Awaitable[T]]") -> T:
    from chie.n8n.server import create_client, create_context

    async def run() -> T:
        context = create_context(settings, create_client(settings))
        try:
            return await work(context)
        finally:
            await context.client.aclose()
            await context.instance.aclose()

    return asyncio.run(run())


async def _workflows(context: "ToolContext", ids: tuple[str, ...] = ()) -> "list[Workflow]":
    if ids:
        return [await context.client.get_workflow(workflow_id) for workflow_id in dict.fromkeys(ids)]
    return await context.client.all_workflows()


async def _compare(context: "ToolContext", folder: Path) -> "list[Entry]":
    from chie.n8n.folder.comparison import compare_folder
    from chie.n8n.folder.folder import WorkflowFolder

    files = WorkflowFolder(folder).read()
    return compare_folder(files, await _workflows(context))


async def _push(context: "ToolContext", folder: Path, entries: "list[Entry]") -> "list[Pushed]":
    from chie.n8n.folder.folder import WorkflowFolder
    from chie.n8n.folder.push import Pusher

    pusher = Pusher(context.saver, WorkflowFolder(folder))
    return [await pusher.push(entry) for entry in entries]


def _confirm(entries: "list[Entry]", *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValidationError("n8n.push_confirmation_required")
    live = sum(bool(entry.workflow and entry.workflow.get("active")) for entry in entries)
    click.confirm(f"Write {len(entries)} workflows to n8n, of which {live} are published and live at once?", abort=True)


def _show(entries: "list[Entry]") -> None:
    for entry in entries:
        for line in _lines(entry):
            click.echo(line)


def _report(results: "list[Pushed]", *, as_json: bool) -> None:
    rows = [_outcome(result) for result in results]
    if as_json:
        return click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    for row in rows:
        click.echo(f"{row['file']}: {row.get('error') or '; '.join(row['steps'])}", err="error" in row)
        for note in row.get("notes", ()):
            click.echo(f"    {note}")
    return None


def _lines(entry: "Entry") -> "Iterator[str]":
    """`+` is what a push would add to n8n, `-` what it would remove, `~` what it would change."""
    published = ", published" if entry.workflow and entry.workflow.get("active") else ""
    file = f" ({entry.file.path.name}{published})" if entry.file else ""
    yield f"{STATES.get(entry.state, entry.state)}: {entry.name}{file}"
    found = entry.difference
    if found.name:
        yield f"    ~ name: {found.name[0]} → {found.name[1]}"
    for sign, what, names in (
        ("+", "node", found.added),
        ("-", "node", found.removed),
        ("+", "connection", found.connections_added),
        ("-", "connection", found.connections_removed),
        ("+", "tag", found.tags_added),
        ("-", "tag", found.tags_removed),
        ("~", "setting", found.settings),
        ("~", "field", found.others),
    ):
        for name in names:
            yield f"    {sign} {what} {name}"
    for name, paths in entry.paths.items():
        yield f"    ~ node {name}: {', '.join(paths)}"


def _outcome(result: "Pushed") -> "Json":
    file = result.entry.file
    row: Json = {"file": file.path.name if file else None, "name": result.entry.name}
    if result.error:
        return {**row, "error": result.error.message, "code": result.error.code}
    report = result.report
    assert report is not None  # noqa: S101 - there is one without an error
    row |= {"id": str(report.workflow["id"]), "steps": [str(step) for step in report.steps]}
    return row | ({"notes": [str(note) for note in report.notes]} if report.notes else {})
