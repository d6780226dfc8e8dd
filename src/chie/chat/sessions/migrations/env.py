"""Alembic's entry point. `upgrade.py` provides the connection, with its transaction and lock."""

from alembic import context

from chie.chat.sessions.models import Table

context.configure(connection=context.config.attributes["connection"], target_metadata=Table.metadata)
context.run_migrations()
