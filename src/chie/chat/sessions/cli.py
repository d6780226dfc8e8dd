"""`chie db`: the database of conversations from a terminal."""

import click

from chie.chat.sessions.upgrade import HEAD
from chie.chat.sessions.upgrade import upgrade as upgrade_database
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.settings import load


@click.group()
def db() -> None:
    """Look after the database of conversations."""


@db.command()
def upgrade() -> None:
    """Bring the database to this version's schema; `chie serve` does the same when it starts."""
    url = database_url(load(DatabaseSettings))
    before = upgrade_database(sqlalchemy_url(url))
    if before == HEAD:
        click.echo(f"{url.location} is up to date ({HEAD}).")
    else:
        click.echo(f"{url.location} is now at {HEAD} (before: {before or 'empty'}).")
