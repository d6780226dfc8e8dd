"""The settings of this module."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from chie.errors import ConfigurationError
from chie.settings import HomeSettings, load


def _working_folder() -> list[Path]:
    """Some MCP hosts start servers in `/`; the whole disk is never allowed."""
    here = Path.cwd()
    return [] if here == Path(here.anchor) else [here]


class N8nSettings(HomeSettings):
    model_config = SettingsConfigDict(env_prefix="N8N_")

    url: str | None = Field(default=None, description="URL of n8n as opened in the browser, with or without `/api/v1`.")
    api_key: SecretStr | None = Field(default=None, description="API key, created in n8n under Settings → n8n API.")
    mcp_token: SecretStr | None = Field(
        default=None,
        description="Token of n8n's own MCP server, from n8n under Settings → MCP access; adds tools that need it.",
    )
    read_only: bool = Field(default=False, description="`1` removes every tool that writes to n8n.")
    timeout: float = Field(default=30.0, gt=0, description="Timeout of requests to n8n, in seconds.")
    ca_bundle: Path | None = Field(default=None, description="PEM file of the certificate authority of n8n.")
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="Extra headers of every request, as a JSON object; for access proxies."
    )
    file_roots: Annotated[list[Path], NoDecode] = Field(
        default_factory=_working_folder,
        description="Folders that the `…_from_file` tools may read, separated as in `PATH`. "
        "Default: the folder where the server was started.",
    )
    backup_dir: Path | None = Field(
        default=None, description="Folder of the backups. Default: `n8n-backups` in `CHIE_HOME`."
    )
    backup_keep: int = Field(default=100, ge=1, description="Number of backups to keep per workflow.")
    max_chars: int = Field(
        default=60_000, ge=2_000, description="Maximum size of a result without raw=true, in characters."
    )

    @field_validator("file_roots", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value

    @property
    def backups(self) -> Path:
        return (self.backup_dir or self.home / "n8n-backups").expanduser()

    def require_endpoint(self) -> tuple[str, SecretStr]:
        """The URL and the API key. The error names the missing ones; blank counts as missing."""
        url = (self.url or "").strip()
        key = self.api_key
        missing = [
            name
            for name, given in (("N8N_URL", url), ("N8N_API_KEY", key and key.get_secret_value().strip()))
            if not given
        ]
        if missing or key is None:
            raise ConfigurationError("n8n.not_configured", variables=missing)
        return url, key


def load_settings() -> N8nSettings:
    """The settings of this process, with the URL and the API key."""
    settings = load(N8nSettings)
    settings.require_endpoint()
    return settings
