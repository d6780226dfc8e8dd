"""The setting that chooses the database."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.database.url import DatabaseUrl, SqliteUrl, parse_url
from chie.settings import Home, home_folder

DATABASE_FILE = "chie.db"


class DatabaseSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    home: Home = Field(
        default_factory=home_folder,
        description="Folder that holds the database file.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="`postgresql://user:password@host/name` keeps notes and conversations in PostgreSQL. "
        f"Without it they are in `{DATABASE_FILE}` under `CHIE_HOME`.",
    )


def database_url(settings: DatabaseSettings) -> DatabaseUrl:
    """The configured database, or the file in `CHIE_HOME`."""
    if settings.database_url is None:
        return SqliteUrl(settings.home.expanduser() / DATABASE_FILE)
    return parse_url(settings.database_url.get_secret_value())
