"""The variables that configure model endpoints; agents read the same ones."""

import os
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.setup.local_servers import THIS_MACHINE


class SetupSettings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore")

    chie_model_host: str = THIS_MACHINE
    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    anthropic_api_key: SecretStr | None = None
    aws_region: str = "ap-northeast-1"
    aws_profile: str | None = None
    aws_access_key_id: SecretStr | None = None
    aws_bearer_token_bedrock: SecretStr | None = None
    home: Path = Field(default_factory=Path.home, validation_alias="HOME")

    @property
    def has_aws(self) -> bool:
        """Whether credentials are configured. A machine's role is not detected: that takes a network request."""
        named = (self.aws_profile, self.aws_access_key_id, self.aws_bearer_token_bedrock)
        files = (
            Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", self.home / ".aws" / "credentials")),
            Path(os.environ.get("AWS_CONFIG_FILE", self.home / ".aws" / "config")),
        )
        return any(named) or any(file.exists() for file in files)
