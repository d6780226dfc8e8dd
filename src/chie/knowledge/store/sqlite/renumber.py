"""Putting an older file's content in the place of a newer one, under the eyes of those who have it open.

They hold vectors in memory and follow the file by their numbers and by the count of deletions (see `vectors.py`). So
the old content must come with numbers that none of them has seen, or they would take it for what they know.
"""

import sqlite3

GAP = 10_000  # vectors that may still be written between the look at the live file and the swap


def succeed(copy: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """Renumber the copy so that whoever follows the live file reads all of it anew."""
    if not (_has_vectors(copy) and _has_vectors(live)):
        return
    newest, deletions = _state(live)
    own, own_deletions = _state(copy)
    start = max(newest + GAP, own)
    rows = copy.execute("SELECT seq FROM vectors ORDER BY seq").fetchall()
    with copy:
        copy.executemany(
            "UPDATE vectors SET seq = ? WHERE seq = ?",
            [(start + number, seq) for number, (seq,) in enumerate(rows, 1)],
        )
        copy.execute("DELETE FROM sqlite_sequence WHERE name = 'vectors'")
        copy.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('vectors', ?)", (start + len(rows),))
        copy.execute("UPDATE revision SET deletions = ?", (max(deletions, own_deletions) + GAP,))


def _has_vectors(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone() is not None


def _state(connection: sqlite3.Connection) -> tuple[int, int]:
    newest, deletions = connection.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0), (SELECT deletions FROM revision)"
    ).fetchone()
    return newest, deletions
