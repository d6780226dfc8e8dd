"""The setting that chooses the database."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from chie.database.url import DatabaseUrl, SqliteUrl, parse_url
from chie.settings import HomeSettings

DATABASE_FILE = "chie.db"


class DatabaseSettings(HomeSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_")

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
