"""SQLite and PostgreSQL: the database URL, connections, page cursors and error translation.

Only `sqlite` and `engine` import a driver; the rest may be imported on the start path of any server.
"""
