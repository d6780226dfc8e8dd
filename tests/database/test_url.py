"""Database URLs: what they name, and that no error or representation shows a password."""

from pathlib import Path

import pytest

from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.database.url import PostgresUrl, SqliteUrl, parse_location, parse_url
from chie.errors import ConfigurationError

PASSWORD = "hunter2hunter2"


def test_without_a_url_the_database_is_a_file_in_the_home_folder(home: Path) -> None:
    url = database_url(DatabaseSettings())
    assert url == SqliteUrl(home / "chie.db")
    assert sqlalchemy_url(url).render_as_string() == f"sqlite+aiosqlite:///{home}/chie.db"


def test_driver_options_of_a_sqlite_url_reach_sqlalchemy() -> None:
    url = parse_url("sqlite:////data/chie.db?timeout=5")
    assert url.location == "/data/chie.db"
    assert sqlalchemy_url(url).render_as_string() == "sqlite+aiosqlite:////data/chie.db?timeout=5"


@pytest.mark.parametrize(
    ("text", "location"),
    [
        (
            f"postgresql://chie:{PASSWORD}@db.example.com:6432/notes?sslmode=require",
            "postgresql://db.example.com/notes",
        ),
        ("postgres:///notes?host=/run/postgresql", "postgresql:///notes"),
        ("postgresql+psycopg://u@/notes?host=a:1&host=b:2", "postgresql://a,b/notes"),
    ],
)
def test_location_has_no_credentials(text: str, location: str) -> None:
    url = parse_url(text)
    assert isinstance(url, PostgresUrl)
    assert url.location == location
    assert PASSWORD not in repr(url) + url.identity
    assert sqlalchemy_url(url).drivername == "postgresql+psycopg"


@pytest.mark.parametrize("text", ["mysql://db/x", "sqlite://", "postgresql://h:port/x", "nonsense", ""])
def test_invalid_url_names_its_source(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_url(text, source="--to")
    assert caught.value.code == "database.url_invalid"
    assert caught.value.reason.params == {"source": "--to"}


def test_spellings_of_one_database_have_one_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    files = {parse_location(text, source="--to").identity for text in ("x.db", "~/x.db", f"sqlite:///{tmp_path}/x.db")}
    assert files == {str(tmp_path / "x.db")}
    servers = {parse_url(text).identity for text in ("postgres://u:p@h/x", "postgresql://v@h:5432/x")}
    assert len(servers) == 1
