"""Alembic's entry: the connection, with its transaction and its lock, is given by `upgrade.py`."""

from alembic import context

from chie.chat.sessions.models import Table

context.configure(connection=context.config.attributes["connection"], target_metadata=Table.metadata)
context.run_migrations()
