"""The folder that holds the receipts."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.settings import Home, home_folder


class ConnectSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    home: Home = Field(default_factory=home_folder)
