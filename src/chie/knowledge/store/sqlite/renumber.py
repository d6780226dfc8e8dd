"""Renumbers the vectors of a backup before it replaces a live file.

Processes that have the file open cache vectors and follow it by their numbers and the count of deletions (see
`vectors.py`). Restored content needs numbers that none of them has seen, or they would take it for what they cached.
"""

import sqlite3

NUMBER_GAP = 10_000  # space for vectors that are written between reading the live file and replacing it


def renumber_vectors(copy: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """Renumber the copy so that processes that follow the live file reload all of it."""
    if not (_has_vectors(copy) and _has_vectors(live)):
        return
    newest, deletions = _state(live)
    own, own_deletions = _state(copy)
    start = max(newest + NUMBER_GAP, own)
    rows = copy.execute("SELECT seq FROM vectors ORDER BY seq").fetchall()
    with copy:
        copy.executemany(
            "UPDATE vectors SET seq = ? WHERE seq = ?",
            [(start + number, seq) for number, (seq,) in enumerate(rows, 1)],
        )
        copy.execute("DELETE FROM sqlite_sequence WHERE name = 'vectors'")
        copy.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('vectors', ?)", (start + len(rows),))
        copy.execute("UPDATE revision SET deletions = ?", (max(deletions, own_deletions) + NUMBER_GAP,))


def _has_vectors(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone() is not None


def _state(connection: sqlite3.Connection) -> tuple[int, int]:
    newest, deletions = connection.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0), (SELECT deletions FROM revision)"
    ).fetchone()
    return newest, deletions
