"""Clients of boto3 for Amazon Bedrock: with AWS credentials, or with a Bedrock API key."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.client import BaseClient
    from botocore.tokens import FrozenAuthToken

_CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


@dataclass(frozen=True, kw_only=True)
class AccessKeys:
    """Of an IAM user, or temporary ones with a session token."""

    key_id: str = field(repr=False)
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


def has_aws_credentials() -> bool:
    """Checked without boto3, which is slow to import and would use the network."""
    files = (
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
        os.environ.get("AWS_CONFIG_FILE", "~/.aws/config"),
    )
    return any(map(os.environ.get, _CREDENTIAL_VARIABLES)) or any(Path(file).expanduser().is_file() for file in files)


def aws_client(
    service: str,
    *,
    region: str,
    profile: str | None = None,
    api_key: str | None = None,
    access_keys: AccessKeys | None = None,
    **config: Any,  # noqa: ANN401
) -> "BaseClient":
    """Blocks, like boto3. Keys take precedence over every credential of the environment."""
    from boto3.session import Session
    from botocore.config import Config
    from botocore.session import get_session

    session: Any
    if access_keys:
        session, config["signature_version"] = _signing_session(access_keys, region), "v4"
    elif api_key:
        core = get_session()
        core.register_component("token_provider", _ApiKey(api_key))
        session, config["signature_version"] = Session(botocore_session=core, region_name=region), "bearer"
    else:
        session = Session(profile_name=profile, region_name=region)
    client: BaseClient = session.client(service, config=Config(**config))
    return client


def _signing_session(keys: AccessKeys, region: str) -> "Session":
    from boto3.session import Session

    return Session(
        aws_access_key_id=keys.key_id,
        aws_secret_access_key=keys.secret,
        aws_session_token=keys.token,
        region_name=region,
    )


class _ApiKey:
    def __init__(self, key: str) -> None:
        self._key = key

    def load_token(self, **_: object) -> "FrozenAuthToken":
        from botocore.tokens import FrozenAuthToken

        return FrozenAuthToken(self._key)
