"""`chie sessions`: imports conversations of other products."""

import asyncio
from contextlib import nullcontext
from pathlib import Path

import click

from chie.access.identity import User, acting_as
from chie.chat.imports.importer import Importer, ImportReport
from chie.chat.sessions.database import Database
from chie.chat.sessions.upgrade import upgrade
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.messages.catalogue import Message
from chie.settings import load

AGENT = "assistant"


@click.group()
def sessions() -> None:
    """Manage conversations."""


@sessions.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only report what would be imported.")
@click.option("--user", help="The user who gets the conversations. Default: `CHIE_USER`.")
def import_file(file: Path, *, dry_run: bool, user: str | None) -> None:
    """Import the export of ChatGPT or Claude: the ZIP, or its conversations.json.

    Branches, dates, titles and the text of attachments are kept. Repeating it adds only what is new.
    """
    with acting_as(User(user)) if user else nullcontext():
        report = asyncio.run(_import(file, dry_run=dry_run))
    for skipped in report.skipped:
        click.echo(Message("imports.skipped", title=skipped.title, reason=skipped.detail), err=True)
    code = "imports.would_import" if dry_run else "imports.imported"
    counts = {"new": report.new, "extended": report.extended, "existing": report.existing}
    click.echo(Message(code, **counts, messages=report.messages, skipped=report.skipped_count))


async def _import(file: Path, *, dry_run: bool) -> ImportReport:
    url = sqlalchemy_url(database_url(load(DatabaseSettings)))
    upgrade(url)
    database = Database(url)
    try:
        with file.open("rb") as stream:
            report = ImportReport()
            async for state in Importer(database).run(stream, agent_id=AGENT, dry_run=dry_run):
                report = state
            return report
    finally:
        await database.close()
