"""`chie db`: manages the database of conversations."""

import click

from chie.chat.sessions.upgrade import HEAD
from chie.chat.sessions.upgrade import upgrade as upgrade_database
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.messages.catalogue import Message
from chie.settings import load


@click.group()
def db() -> None:
    """Manage the database of conversations."""


@db.command()
def upgrade() -> None:
    """Upgrade the database to this version's schema, as `chie serve` does when it starts."""
    url = database_url(load(DatabaseSettings))
    before = upgrade_database(sqlalchemy_url(url))
    click.echo(_result(url.location, before))


def _result(location: str, before: str | None) -> Message:
    if before is None:
        return Message("sessions.database_created", location=location, revision=HEAD)
    if before == HEAD:
        return Message("sessions.database_up_to_date", location=location, revision=HEAD)
    return Message("sessions.database_upgraded", location=location, before=before, revision=HEAD)
