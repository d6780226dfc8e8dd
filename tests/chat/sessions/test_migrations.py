"""The schema: the same from new or by migration, on both databases; processes may start together."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner
from sqlalchemy import URL, Engine, create_engine, inspect, text
from sqlalchemy.pool import NullPool
from tests.fakes import postgres
from tests.fakes.chat import open_chat, sqlite_url

from chie.access.identity import User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.models import Table
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.upgrade import HEAD, alembic_config, upgrade
from chie.cli import main
from chie.errors import ConfigurationError, StorageError

LAYOUTS = Path(__file__).parent / "layouts"


def engine(url: URL) -> Engine:
    url = url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url
    return create_engine(url, poolclass=NullPool)


def migrate(url: URL, revision: str) -> None:
    config = alembic_config()
    with engine(url).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def schema(url: URL) -> dict[str, object]:
    """Tables, columns, keys, indexes and constraints, as the database reports them."""
    found = inspect(engine(url))
    tables = sorted(found.get_table_names())
    readers = (found.get_pk_constraint, found.get_foreign_keys, found.get_indexes, found.get_unique_constraints)
    columns = {
        table: [{**one, "type": repr(one["type"])} for one in found.get_columns(table)]  # types know no equals
        for table in tables
    }
    return {"columns": columns} | {read.__name__: {table: read(table) for table in tables} for read in readers}


def dumped(url: URL) -> str:
    """The whole database as the database itself describes it. Of SQLite's statements only the spaces are normalised."""
    if url.get_backend_name() == "postgresql":
        return postgres.dump(url.set(drivername="postgresql").render_as_string(hide_password=False))
    with closing(sqlite3.connect(url.database or "")) as connection:
        columns = "type, name, tbl_name, sql"
        found = connection.execute(f"SELECT {columns} FROM sqlite_master ORDER BY type, name").fetchall()  # noqa: S608
        rows = connection.execute("SELECT * FROM alembic_version").fetchall()
    return "\n".join(" ".join(str(row).replace("\\n", " ").replace("\\t", " ").split()) for row in (*found, *rows))


@pytest.mark.req("CH-12")
@pytest.mark.parametrize("start", ["nothing", *(f"{number:04}" for number in range(1, int(HEAD)))])
def test_database_made_in_one_go_is_dumped_like_a_migrated_one(both: URL, start: str) -> None:
    """Columns in their order, defaults, constraints, indexes and sequences with their names."""
    upgrade(both)
    new = dumped(both)
    assert "sessions_by_user" in new
    with engine(both).begin() as connection:
        Table.metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    if start == "nothing":
        migrate(both, "head")
    else:
        migrate(both, start)
        assert upgrade(both) == start
    assert dumped(both) == new


@pytest.mark.req("CH-12")
def test_new_database_matches_the_models(both: URL) -> None:
    assert upgrade(both) is None
    with engine(both).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
        assert set(inspect(connection).get_table_names()) == {
            "alembic_version",
            "sessions",
            "messages",
            "message_events",
            "run_commands",
            "attachment_files",
            "attachments",
            "message_attachments",
            "queued_attachments",
            "queued_messages",
            "server_logins",
            "endpoints",
            "added_servers",
            "model_usage",
            "recorded_usage",
            "usage_limits",
            "saved_prompts",
        }


@pytest.mark.req("CH-12")
def test_migrated_database_equals_a_new_one(both: URL) -> None:
    upgrade(both)
    new = schema(both)
    with engine(both).begin() as connection:
        Table.metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    migrate(both, "0001")
    assert upgrade(both) == "0001"
    assert schema(both) == new
    assert upgrade(both) == HEAD


def test_new_database_does_not_load_alembic(tmp_path: Path) -> None:
    made = (
        "import sys; from sqlalchemy import make_url; from chie.chat.sessions.upgrade import upgrade;"
        "upgrade(make_url(sys.argv[1])); print('alembic' in sys.modules)"
    )
    url = str(sqlite_url(tmp_path))
    assert subprocess.run([sys.executable, "-c", made, url], capture_output=True, check=True).stdout == b"False\n"


def test_foreign_table_with_the_same_name_is_left_alone(both: URL) -> None:
    with engine(both).begin() as connection:
        connection.execute(text("CREATE TABLE sessions (id integer)"))
    with pytest.raises(StorageError):
        upgrade(both)
    with engine(both).connect() as connection:
        assert inspect(connection).get_table_names() == ["sessions"]


@pytest.mark.req("CH-12")
def test_second_upgrade_changes_nothing(both: URL) -> None:
    upgrade(both)
    assert upgrade(both) == HEAD


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [HEAD]


def test_processes_that_start_together_upgrade_once(both: URL) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: upgrade(both), range(4)))
    assert found.count(None) >= 1
    assert set(found) <= {None, HEAD}
    assert upgrade(both) == HEAD


def test_database_of_a_newer_chie_is_left_alone(both: URL) -> None:
    upgrade(both)
    with engine(both).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError) as refused:
        upgrade(both)
    assert refused.value.code == "database.schema_newer"
    assert (refused.value.reason.params["found"], refused.value.reason.params["supported"]) == ("9999", HEAD)


def test_sessions_of_the_first_schema_become_anonymous(both: URL) -> None:
    migrate(both, "0001")
    with engine(both).begin() as connection:
        connection.execute(
            text("INSERT INTO sessions VALUES ('s', 'title', 'title', 'agent', '2026-01-01 00:00', '2026-01-01 00:00')")
        )
    assert upgrade(both) == "0001"
    with engine(both).connect() as connection:
        assert connection.execute(text("SELECT id, user_id FROM sessions")).all() == [("s", "anonymous")]


def load_layout(url: URL, revision: str) -> None:
    """Fill an empty database with one that an older version wrote."""
    script = (LAYOUTS / f"{revision}.{url.get_backend_name()}.sql").read_text(encoding="utf-8")
    with engine(url).begin() as connection:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)


@pytest.mark.parametrize("revision", ["0003"])
async def test_database_of_an_older_version_is_upgraded_with_its_content(both: URL, revision: str) -> None:
    load_layout(both, revision)
    assert upgrade(both) == revision
    with engine(both).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
        assert connection.execute(text("SELECT count(*) FROM run_commands")).scalar_one() == 0
    async with open_chat(both) as chat:
        with acting_as(User("yuki")):
            database = Database(both)
            conversation = await SessionService(database).conversation("s")
            await database.close()
        response = await chat.client.get("/api/sessions")
    assert response.json() == {"sessions": [], "next_cursor": None}
    question, failed, abandoned = conversation.messages
    assert (conversation.title, question.content) == ("障害", "原因は？")
    assert (failed.status, failed.content, failed.error) == ("failed", "So far ", "The model answered nothing.")
    assert (failed.error_code, failed.error_params) == (None, None)
    assert (abandoned.status, abandoned.content) == ("interrupted", "Again ")
    assert (abandoned.error_code, abandoned.error_params) == ("chat.process_died", {})


def test_released_layout_equals_a_new_database_after_the_upgrade(both: URL) -> None:
    upgrade(both)
    new = schema(both)
    with engine(both).begin() as connection:
        Table.metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    load_layout(both, "0003")
    upgrade(both)
    assert schema(both) == new


def test_migration_can_be_reverted(both: URL) -> None:
    load_layout(both, "0003")
    before = schema(both)
    upgrade(both)
    config = alembic_config()
    with engine(both).begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")
    assert schema(both) == before


def test_notes_and_conversations_share_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chie.knowledge.service import KnowledgeService
    from chie.knowledge.settings import KnowledgeSettings, create_store

    for first in ("chat", "knowledge"):
        home = tmp_path / first
        monkeypatch.setenv("CHIE_HOME", str(home))
        store = create_store(KnowledgeSettings(embedding_url="http://127.0.0.1:9/v1"))
        if first == "chat":
            upgrade(sqlite_url(home))
        KnowledgeService(store).save("nginx: 接続数を増やす")
        upgrade(sqlite_url(home))
        assert store.check().notes == 1
        store.close()
        with sqlite3.connect(home / "chie.db") as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
        connection.close()


def test_db_upgrade_reports_what_it_did(home: Path) -> None:
    first = CliRunner().invoke(main, ["db", "upgrade"])
    assert first.output == f"{home}/chie.db was created ({HEAD}).\n"
    assert CliRunner().invoke(main, ["db", "upgrade"]).output == f"{home}/chie.db is up to date ({HEAD}).\n"


def test_db_upgrade_rejects_an_unsupported_url_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "mysql://root:hunter2hunter2@db/chie")
    done = CliRunner().invoke(main, ["db", "upgrade"])
    assert done.exit_code == 1
    assert done.output.startswith("Error: `CHIE_DATABASE_URL` is not a database URL that Chie supports.")
    assert "hunter2" not in done.output


def test_db_upgrade_names_an_unreachable_server_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "postgresql://chie:hunter2hunter2@127.0.0.1:9/chie")
    done = CliRunner().invoke(main, ["db", "upgrade"])
    assert done.exit_code == 1
    assert done.output.startswith("Error: PostgreSQL at postgresql://127.0.0.1/chie is not responding")
    assert "hunter2" not in done.output


def test_missing_driver_is_reported_with_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(ConfigurationError) as refused:
        upgrade(URL.create("postgresql+psycopg", database="x"))
    assert refused.value.code == "database.driver_missing"
