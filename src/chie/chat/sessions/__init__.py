"""The persistence of sessions and messages, in SQLite or PostgreSQL."""
