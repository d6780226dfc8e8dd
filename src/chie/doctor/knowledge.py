"""Checks the knowledge server. The fix depends on where the notes are stored and on the error."""

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec

from chie.database.settings import DATABASE_FILE, DatabaseSettings, database_url
from chie.database.url import SqliteUrl
from chie.doctor.finding import EDIT_SETTINGS, Finding
from chie.doctor.servers import check_server
from chie.doctor.storage import PING_POSTGRES, check_database_file, database_file, show_users_of
from chie.errors import AuthenticationError, ChieError, ConfigurationError, ForbiddenError
from chie.installation.commands import install_extra, upgrade_chie
from chie.knowledge.settings import KnowledgeSettings
from chie.messages.catalogue import Message
from chie.settings import load

NAME = "knowledge"
TIMEOUT_SECONDS = 30.0  # a call to Vector Search reports its own timeout after 20

SET_COLLECTION = 'export GOOGLE_CLOUD_PROJECT="…" VECTOR_SEARCH_LOCATION="…" VECTOR_SEARCH_COLLECTION="…"'
CREATE_COLLECTION = "chie knowledge init-collection"  # also verifies an existing Collection
SIGN_IN = "gcloud auth application-default login"
GRANT_ROLE = (
    'gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" '
    '--member="…" --role=roles/vectorsearch.dataObjectWriter'
)
SET_DATABASE = 'export CHIE_DATABASE_URL="postgresql://user:password@host/name"'
OPEN_POSTGRES = 'psql "$CHIE_DATABASE_URL"'


async def check_knowledge() -> Sequence[Finding]:
    if _is_unused():
        return [Finding(NAME, "ok", Message("doctor.notes_none"))]
    return await check_server(NAME, find_fix)


def _is_unused() -> bool:
    """Without a database file yet, the check would create one."""
    settings = load(KnowledgeSettings)
    remote = settings.database_url or settings.knowledge_store
    return not remote and not (settings.home.expanduser() / DATABASE_FILE).exists()


async def find_fix(error: ChieError) -> str:
    try:
        in_collection = load(KnowledgeSettings).knowledge_store == "vector-search"
        settings = load(DatabaseSettings)
    except ConfigurationError:
        return EDIT_SETTINGS
    if in_collection:
        return _fix_collection(error)
    if isinstance(error, ConfigurationError):
        return install_extra("postgres") if find_spec("psycopg") is None else SET_DATABASE
    if isinstance(database_url(settings), SqliteUrl):
        return await _fix_file(settings)
    return await _fix_postgres(settings)


def _fix_collection(error: ChieError) -> str:
    fixes = {ConfigurationError: SET_COLLECTION, AuthenticationError: SIGN_IN, ForbiddenError: GRANT_ROLE}
    return fixes.get(type(error), CREATE_COLLECTION)


async def _fix_file(settings: DatabaseSettings) -> str:
    file = database_file(settings)
    found = await asyncio.to_thread(check_database_file, file)
    return found.fix if found.state == "problem" and found.fix else show_users_of(file)


async def _fix_postgres(settings: DatabaseSettings) -> str:
    """A server that responds but cannot store notes needs its administrator; the message gives the reason."""
    from sqlalchemy import text

    from chie.chat.sessions.database import Database
    from chie.database.engine import sqlalchemy_url
    from chie.knowledge.store.postgres.schema import VERSION

    database = Database(sqlalchemy_url(database_url(settings)))
    try:
        async with database.read() as connection:
            exists = (await connection.execute(text("SELECT to_regclass('knowledge_schema')"))).scalar()
            version = (await connection.execute(text("SELECT version FROM knowledge_schema"))).scalar() if exists else 0
    except ChieError:
        return PING_POSTGRES
    finally:
        await database.close()
    return upgrade_chie() if version and version > VERSION else OPEN_POSTGRES
