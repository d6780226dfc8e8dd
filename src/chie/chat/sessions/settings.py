"""Where conversations are kept."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from chie.errors import ConfigurationError
from chie.settings import Home, home_folder

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}


class DatabaseSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    home: Home = Field(
        default_factory=home_folder,
        description="Folder that holds the database file.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="`postgresql://user:password@host/name` keeps conversations there. "
        "Without it they are in `chie.db` under `CHIE_HOME`.",
    )


def database_url(settings: DatabaseSettings) -> URL:
    """The same driver serves both the migrations and the house, so one URL is enough."""
    if settings.database_url is None:
        path = settings.home.expanduser() / "chie.db"
        return URL.create(DRIVERS["sqlite"], database=str(path))
    try:
        url = make_url(settings.database_url.get_secret_value())
    except ArgumentError as error:
        raise _wrong_url() from error
    if url.get_backend_name() not in DRIVERS or (url.get_backend_name() == "sqlite" and not url.database):
        raise _wrong_url()
    return url.set(drivername=DRIVERS[url.get_backend_name()])


def _wrong_url() -> ConfigurationError:
    return ConfigurationError(
        "CHIE_DATABASE_URL is not the address of a database that Chie knows. "
        "Write postgresql://user:password@host/name, or sqlite:////folder/file.db, or leave it out."
    )
