"""Checks of `CHIE_HOME` and of the database."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chie.backup.database import STAGING_PREFIX, Contents, examine
from chie.chat.sessions.upgrade import HEAD
from chie.database.errors import DAMAGE_CODES
from chie.database.settings import DATABASE_FILE, DatabaseSettings, database_url
from chie.database.url import PostgresUrl, SqliteUrl
from chie.doctor.finding import Finding
from chie.errors import StorageError
from chie.files import is_readable_by_others
from chie.installation.commands import upgrade_chie
from chie.knowledge.store.sqlite.schema import VERSION
from chie.messages.catalogue import Message
from chie.settings import load

MIN_FREE_BYTES = 200 * 1024 * 1024
RESTORE = "chie restore FILE"
UPGRADE_SCHEMA = "chie db upgrade"
PING_POSTGRES = 'pg_isready --dbname="$CHIE_DATABASE_URL"'


async def check_home() -> Sequence[Finding]:
    home = load(DatabaseSettings).home.expanduser()
    return await asyncio.to_thread(_check_folder, home)


def _check_folder(home: Path) -> list[Finding]:
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    if not existing.is_dir():
        message = Message("doctor.home_is_a_file", path=str(existing))
        return [Finding("home", "problem", message, f'mv "{existing}" "{existing}.old"')]
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        message = Message("doctor.home_not_writable", path=str(existing), reason=error.strerror or "")
        return [Finding("home", "problem", message, f'mkdir -p "{home}" && chmod u+rwx "{home}"')]
    free = shutil.disk_usage(existing).free
    if free < MIN_FREE_BYTES:
        message = Message("doctor.disk_space_low", home=str(home), megabytes=free // 2**20)
        return [Finding("home", "warning", message, f'df -h "{existing}"')]
    code = "doctor.home_ok" if home.exists() else "doctor.created_on_first_use"
    return [Finding("home", "ok", Message(code, path=str(home))), *_interrupted_restores(home)]


def _interrupted_restores(home: Path) -> list[Finding]:
    return [
        Finding("home", "warning", Message("doctor.restore_interrupted", path=str(left)), f'rm -r "{left}"')
        for left in home.glob(f"{STAGING_PREFIX}*")
    ]


async def check_database() -> Sequence[Finding]:
    """An integrity check of the SQLite file that is, or could be, in use."""
    file = database_file(load(DatabaseSettings))
    return [await asyncio.to_thread(check_database_file, file), *_check_permissions(file)]


def database_file(settings: DatabaseSettings) -> Path:
    url = database_url(settings)
    return url.path if isinstance(url, SqliteUrl) else settings.home.expanduser() / DATABASE_FILE


def _check_permissions(file: Path) -> list[Finding]:
    """Earlier versions left them to the umask, which usually lets every user read the file."""
    if not file.is_file() or not is_readable_by_others(file):
        return []
    message = Message("doctor.database_readable_by_others", path=str(file))
    return [Finding("permissions", "warning", message, f'chmod go-rwx "{file}"*')]


def check_database_file(file: Path) -> Finding:
    if not file.exists():
        return Finding("database", "ok", Message("doctor.created_on_first_use", path=str(file)))
    try:
        contents = examine(file)
    except StorageError as error:
        fix = RESTORE if error.code in DAMAGE_CODES else show_users_of(file)
        return Finding("database", "problem", error.reason, fix)
    if contents.notes_schema > VERSION or (contents.sessions_schema or "") > HEAD:
        return _newer("database", str(file))
    if contents.sessions_schema and contents.sessions_schema < HEAD:
        return _outdated("database", str(file))
    return Finding("database", "ok", _summary(file, contents))


def _summary(file: Path, contents: Contents) -> Message:
    notes, sessions, messages = (contents.counts.get(table, 0) for table in ("notes", "sessions", "messages"))
    return Message("doctor.database_ok", path=str(file), notes=notes, conversations=sessions, messages=messages)


def show_users_of(file: Path) -> str:
    """The command that shows who may use the file, and which processes do."""
    return f'ls -l "{file}" && fuser -v "{file}"'


async def check_postgres() -> Sequence[Finding]:
    url = database_url(load(DatabaseSettings))
    if isinstance(url, SqliteUrl):
        return [Finding("PostgreSQL", "off", Message("doctor.postgres_not_configured"))]
    schema = await _postgres_schema(url)
    if schema and schema > HEAD:
        return [_newer("PostgreSQL", url.location)]
    if schema != HEAD:
        return [_outdated("PostgreSQL", url.location)]
    return [Finding("PostgreSQL", "ok", Message("doctor.postgres_ok", location=url.location))]


async def _postgres_schema(url: PostgresUrl) -> str | None:
    from sqlalchemy import text

    from chie.chat.sessions.database import Database
    from chie.database.engine import sqlalchemy_url

    database = Database(sqlalchemy_url(url))
    try:
        await database.check()
        async with database.read() as connection:
            exists = (await connection.execute(text("SELECT to_regclass('alembic_version')"))).scalar()
            if not exists:
                return None
            version: str | None = (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar()
            return version
    finally:
        await database.close()


def _newer(check: str, location: str) -> Finding:
    return Finding(check, "problem", Message("doctor.database_newer", location=location), upgrade_chie())


def _outdated(check: str, location: str) -> Finding:
    return Finding(check, "warning", Message("doctor.database_outdated", location=location), UPGRADE_SCHEMA)
