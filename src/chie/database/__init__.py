"""SQLite and PostgreSQL: the database URL, connections and error translation."""
