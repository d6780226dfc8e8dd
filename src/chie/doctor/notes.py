"""The knowledge room: what mends it depends on where the notes are, and on what failed there."""

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec

from chie.database.settings import DATABASE_FILE, DatabaseSettings, database_url
from chie.database.url import SqliteUrl
from chie.doctor.finding import SETTINGS, Finding
from chie.doctor.machine import ASK_POSTGRES, UPGRADE, database_file, holders_of, look_at_database
from chie.doctor.services import check_room
from chie.errors import AuthenticationError, ChieError, ConfigurationError, ForbiddenError
from chie.knowledge.settings import KnowledgeSettings
from chie.settings import load

NAME = "knowledge"
SECONDS = 30.0  # a call to Vector Search is given up after 20, and then says why

COLLECTION = 'export GOOGLE_CLOUD_PROJECT="…" VECTOR_SEARCH_LOCATION="…" VECTOR_SEARCH_COLLECTION="…"'
FOUND = "chie knowledge init-collection"  # which also compares a Collection that is there
SIGN_IN = "gcloud auth application-default login"
GRANT = (
    'gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" '
    '--member="…" --role=roles/vectorsearch.dataObjectWriter'
)
DATABASE = 'export CHIE_DATABASE_URL="postgresql://user:password@host/name"'
DRIVER = "pip install 'chie[postgres]'"


async def check_notes() -> Sequence[Finding]:
    if _is_untouched():
        return [Finding(NAME, "ok", "no notes yet.")]
    return await check_room(NAME, mend)


def _is_untouched() -> bool:
    """Where there is no file yet, a look would make one."""
    settings = load(KnowledgeSettings)
    elsewhere = settings.database_url or settings.knowledge_store
    return not elsewhere and not (settings.home.expanduser() / DATABASE_FILE).exists()


async def mend(error: ChieError) -> str:
    try:
        in_collection = load(KnowledgeSettings).knowledge_store == "vector-search"
        settings = load(DatabaseSettings)
    except ConfigurationError:
        return SETTINGS
    if in_collection:
        return _mend_collection(error)
    if isinstance(error, ConfigurationError):
        return DRIVER if find_spec("psycopg") is None else DATABASE
    if isinstance(database_url(settings), SqliteUrl):
        return await _mend_file(settings)
    return await _mend_postgres(settings)


def _mend_collection(error: ChieError) -> str:
    fixes = {ConfigurationError: COLLECTION, AuthenticationError: SIGN_IN, ForbiddenError: GRANT}
    return fixes.get(type(error), FOUND)


async def _mend_file(settings: DatabaseSettings) -> str:
    file = database_file(settings)
    found = await asyncio.to_thread(look_at_database, file)
    return found.fix if found.state == "problem" and found.fix else holders_of(file)


async def _mend_postgres(settings: DatabaseSettings) -> str:
    """One that answers and does not serve the notes wants its administrator: the message says for what."""
    from sqlalchemy import text

    from chie.chat.sessions.database import Database
    from chie.database.engine import sqlalchemy_url
    from chie.knowledge.store.postgres.schema import VERSION

    database = Database(sqlalchemy_url(database_url(settings)))
    try:
        async with database.read() as connection:
            there = (await connection.execute(text("SELECT to_regclass('knowledge_schema')"))).scalar()
            version = (await connection.execute(text("SELECT version FROM knowledge_schema"))).scalar() if there else 0
    except ChieError:
        return ASK_POSTGRES
    finally:
        await database.close()
    return UPGRADE if version and version > VERSION else 'psql "$CHIE_DATABASE_URL"'
