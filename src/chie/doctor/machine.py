"""What is on this machine: versions, the home, its database, the port, and the assistants that know us."""

import asyncio
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chie import __version__
from chie.backup.database import STAGING, examine, in_words
from chie.chat.sessions.upgrade import HEAD
from chie.database.errors import DAMAGE_CODES
from chie.database.settings import DATABASE_FILE, DatabaseSettings, database_url
from chie.database.url import SqliteUrl
from chie.doctor.finding import Finding
from chie.errors import ChieError, StorageError
from chie.files import is_open_to_others
from chie.knowledge.store.sqlite.schema import VERSION
from chie.settings import load

if TYPE_CHECKING:
    import httpx2

    from chie.connect.config_edit import ClientConfig

LEAST_ROOM = 200 * 1024 * 1024
UPGRADE = "pip install --upgrade chie"
RESTORE = "chie restore FILE"
ASK_POSTGRES = 'pg_isready --dbname="$CHIE_DATABASE_URL"'
HEALTH_SECONDS = 5.0


async def check_versions() -> Sequence[Finding]:
    says = f"Chie {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5 (tokens)")
    except sqlite3.Error:
        return [
            Finding("versions", "problem", f"{says}, which cannot search text (no FTS5).", "uv python install 3.13")
        ]
    return [Finding("versions", "ok", says)]


async def check_home() -> Sequence[Finding]:
    home = load(DatabaseSettings).home.expanduser()
    return await asyncio.to_thread(_look_at_home, home)


def _look_at_home(home: Path) -> list[Finding]:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    mend = f'mkdir -p "{home}" && chmod u+rwx "{home}"'
    if not place.is_dir():
        return [
            Finding(
                "home", "problem", f"{place} is a file, so CHIE_HOME cannot be there.", f'mv "{place}" "{place}.old"'
            )
        ]
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return [Finding("home", "problem", f"{place} cannot be written: {error.strerror}.", mend)]
    room = shutil.disk_usage(place).free
    if room < LEAST_ROOM:
        return [Finding("home", "warning", f"{home} has only {room // 2**20} MB of room left.", f'df -h "{place}"')]
    found = [Finding("home", "ok", str(home) if home.exists() else f"{home} will be made when it is first needed.")]
    for left in home.glob(f"{STAGING}*"):
        says = f"A restore was broken off and left {left}."
        found.append(Finding("home", "warning", f"{says} Restore again, then remove it.", f'rm -r "{left}"'))
    return found


async def check_database() -> Sequence[Finding]:
    """The SQLite file that is used, or could be; it is looked through, not only opened."""
    file = database_file(load(DatabaseSettings))
    return [await asyncio.to_thread(look_at_database, file), *_look_at_rights(file)]


def database_file(settings: DatabaseSettings) -> Path:
    url = database_url(settings)
    return url.path if isinstance(url, SqliteUrl) else settings.home.expanduser() / DATABASE_FILE


def _look_at_rights(file: Path) -> list[Finding]:
    """Older versions left them to the umask, which on most machines lets everybody read."""
    if not file.is_file() or not is_open_to_others(file):
        return []
    says = f"Every user of this machine can read {file}."
    return [Finding("rights", "warning", says, f'chmod go-rwx "{file}"*')]


def look_at_database(file: Path) -> Finding:
    if not file.exists():
        return Finding("database", "ok", f"{file} will be made when it is first needed.")
    try:
        found = examine(file)
    except StorageError as error:
        fix = RESTORE if error.code in DAMAGE_CODES else holders_of(file)
        return Finding("database", "problem", error.message, fix)
    newer = found.notes_schema > VERSION or (found.sessions_schema or "") > HEAD
    if newer:
        return Finding("database", "problem", f"{file} was written by a newer Chie than this one.", UPGRADE)
    if found.sessions_schema and found.sessions_schema < HEAD:
        return Finding(
            "database", "warning", f"{file} has an older schema; the next start mends it.", "chie db upgrade"
        )
    return Finding("database", "ok", f"{file} is whole: {in_words(found.counts) or 'empty'}.")


def holders_of(file: Path) -> str:
    """Who may use it, and who does."""
    return f'ls -l "{file}" && fuser -v "{file}"'


async def check_postgres() -> Sequence[Finding]:
    from sqlalchemy import text

    from chie.chat.sessions.database import Database
    from chie.database.engine import sqlalchemy_url

    url = database_url(load(DatabaseSettings))
    if isinstance(url, SqliteUrl):
        return [Finding("PostgreSQL", "off", "CHIE_DATABASE_URL names none; everything is in the file.")]
    database = Database(sqlalchemy_url(url))
    try:
        await database.check()
        async with database.read() as connection:
            there = (await connection.execute(text("SELECT to_regclass('alembic_version')"))).scalar()
            found = (
                (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar() if there else None
            )
    finally:
        await database.close()
    where = url.location
    if found and found > HEAD:
        return [Finding("PostgreSQL", "problem", f"{where} was written by a newer Chie than this one.", UPGRADE)]
    if found != HEAD:
        return [
            Finding(
                "PostgreSQL", "warning", f"{where} wants a newer schema; the next start makes it.", "chie db upgrade"
            )
        ]
    return [Finding("PostgreSQL", "ok", f"{where} answers.")]


async def check_port(port: int) -> Sequence[Finding]:
    """Whether `chie serve` can have it, or has it."""
    import httpx2

    address = f"http://127.0.0.1:{port}"
    try:
        async with httpx2.AsyncClient(timeout=HEALTH_SECONDS, trust_env=False) as client:
            ours = "servers" in (await client.get(f"{address}/health")).json() or await _asks_who(client, address)
    except httpx2.ConnectError:
        return [Finding("port", "ok", f"{port} is free for chie serve.")]
    except (httpx2.HTTPError, ValueError, TypeError):
        ours = False
    if ours:
        return [Finding("port", "ok", f"Chie runs at {address}.")]
    return [Finding("port", "warning", f"Another program listens on {port}.", "chie serve --port 0")]


async def _asks_who(client: "httpx2.AsyncClient", address: str) -> bool:
    """A house with users tells a stranger its health and no more; but it says who asks."""
    answer = await client.get(f"{address}/api/me")
    return 'realm="Chie"' in answer.headers.get("www-authenticate", "")


async def check_hosts() -> Sequence[Finding]:
    """The assistants whose configuration names us, and whether what it names is still there."""
    from chie.connect.config_edit import ClientConfig
    from chie.connect.mcp_clients import MCP_CLIENTS

    home = load(DatabaseSettings).home.expanduser()
    looks = [
        asyncio.to_thread(lambda client: _look_at_host(ClientConfig(client, home)), client) for client in MCP_CLIENTS
    ]
    found = [finding for findings in await asyncio.gather(*looks) for finding in findings]
    nobody = Finding("assistants", "off", "None is connected. For one: chie connect claude-code")
    return found or [nobody]


def _look_at_host(config: "ClientConfig") -> list[Finding]:
    name, mend = config.client.name, f"chie connect {config.client.id}"
    try:
        ours = config.own_entries()
    except ChieError as error:
        return [Finding(name, "warning", error.message, f'"${{EDITOR:-vi}}" "{config.path}"')]
    programs = {server: entry["command"] for server, entry in ours.items() if isinstance(entry.get("command"), str)}
    gone = [server for server, command in programs.items() if not shutil.which(command)]
    if gone:
        says = f"{config.path} names a program for {', '.join(gone)} that is not there."
        return [Finding(name, "problem", says, " ".join([mend, *(f"--server {server}" for server in gone)]))]
    return [Finding(name, "ok", f"knows {', '.join(ours)}.")] if ours else []
