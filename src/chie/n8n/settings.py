"""What an operator can set for the n8n room."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from chie.errors import ConfigurationError
from chie.settings import HomeSettings


def _working_folder() -> list[Path]:
    """Some hosts start servers in `/`; the whole disk is never meant."""
    here = Path.cwd()
    return [] if here == Path(here.anchor) else [here]


class N8nSettings(HomeSettings):
    model_config = SettingsConfigDict(env_prefix="N8N_")

    url: str | None = Field(
        default=None, description="Address of n8n as you open it in the browser; `/api/v1` may be there or not."
    )
    api_key: SecretStr | None = Field(default=None, description="API key, made in n8n under Settings → n8n API.")
    read_only: bool = Field(default=False, description="`1` leaves out every tool that changes something in n8n.")
    timeout: float = Field(default=30.0, gt=0, description="Seconds to wait for an answer of n8n.")
    ca_bundle: Path | None = Field(default=None, description="PEM file with the certificate authority of n8n's host.")
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="Headers to add to every request, as a JSON object; for access proxies."
    )
    file_roots: Annotated[list[Path], NoDecode] = Field(
        default_factory=_working_folder,
        description="Folders whose files the two `…_from_file` tools may read, separated as in `PATH`; "
        "without it, the folder where the server was started.",
    )
    backup_dir: Path | None = Field(
        default=None, description="Folder for the backups; without it, `n8n-backups` in `CHIE_HOME`."
    )
    backup_keep: int = Field(default=100, ge=1, description="How many backups to keep of each workflow.")
    max_chars: int = Field(default=60_000, ge=2_000, description="Longest answer of a tool, in characters.")

    @field_validator("file_roots", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value

    @property
    def backups(self) -> Path:
        return (self.backup_dir or self.home / "n8n-backups").expanduser()

    def require_address(self) -> tuple[str, SecretStr]:
        """The address and the key, or which of the two is wanting; blank counts as missing."""
        url = (self.url or "").strip()
        key = self.api_key
        missing = [
            name
            for name, given in (("N8N_URL", url), ("N8N_API_KEY", key and key.get_secret_value().strip()))
            if not given
        ]
        if missing or key is None:
            raise ConfigurationError(f"not configured: {', '.join(missing)}")
        return url, key
