"""Connections to a SQLite file that several processes share."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chie.database import errors
from chie.database.errors import folder_error, sqlite_error, text_error
from chie.files import make_folder

# What is deleted is overwritten too, so that it is in no backup.
PRAGMAS = ("PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA secure_delete = ON")


def create_private_file(file: Path) -> None:
    """An empty file, which SQLite takes for a new database. SQLite itself would create one that others can read.

    Errors are left to SQLite, which reports them when it opens the file.
    """
    make_folder(file.parent)
    if not str(file).startswith((":memory:", "file:")):  # SQLite does not take these for file names
        with suppress(OSError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def connect(path: Path) -> sqlite3.Connection:
    """Creates the file where it is missing. The caller begins and ends transactions."""
    create_private_file(path)
    connection: sqlite3.Connection = sqlite3.connect(path, **driver_options(), check_same_thread=False)
    for pragma in PRAGMAS:
        connection.execute(pragma)
    return connection


def connect_existing(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?mode=rw"
    connection: sqlite3.Connection = sqlite3.connect(uri, uri=True, **driver_options())
    return connection


def driver_options() -> dict[str, Any]:
    """Without an isolation level the driver leaves BEGIN to us, also for statements that create tables."""
    return {"timeout": errors.BUSY_TIMEOUT_SECONDS, "isolation_level": None}


def enable_wal(execute: Callable[[str], Any]) -> None:
    """Lets readers and a writer work side by side; the mode is stored in the file."""
    if execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        execute("PRAGMA journal_mode = WAL")


@contextmanager
def translate_errors(path: Path, *, disk: Path | None = None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise sqlite_error(error, path, disk=disk) from error
    except UnicodeEncodeError as error:
        raise text_error() from error
    except OSError as error:
        raise folder_error(error, path.parent) from error
