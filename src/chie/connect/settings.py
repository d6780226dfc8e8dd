"""Where we remember what we wrote into other programs' files."""

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ConnectSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", env_file=".env", extra="ignore")

    home: Path = Field(default_factory=lambda: user_data_path("chie", appauthor=False))
