"""Which credentials sign a call, and the errors for missing or expired ones."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import Bedrock, refuse

from chie.bedrock_kb.bedrock_client import create_boto_client, query_knowledge_base
from chie.bedrock_kb.config import KBConfig, load_config
from chie.bedrock_kb.errors import AuthenticationError
from chie.bedrock_kb.requests import Question, Search
from chie.bedrock_kb.service import KnowledgeBase

DEV = """
[dev]
aws_access_key_id = AKIAPROFILEDEV000000
aws_secret_access_key = profile-secret
"""
SSO = """
[profile sso]
sso_session = company
sso_account_id = 123456789012
sso_role_name = reader
region = us-east-1
[sso-session company]
sso_start_url = https://127.0.0.1/start
sso_region = us-east-1
"""


def signed_by(bedrock: Bedrock) -> str:
    return bedrock.calls[-1].headers["Authorization"]


def ask(config: KBConfig) -> Any:
    return query_knowledge_base(create_boto_client(config), config, "q")


def test_keys_of_the_environment_sign_for_the_configured_region(bedrock: Bedrock, config: KBConfig) -> None:
    ask(replace(config, aws_region="eu-west-3"))
    assert "Credential=AKIAENVIRONMENT00000/" in signed_by(bedrock)
    assert "/eu-west-3/bedrock/aws4_request" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_profile_takes_precedence_over_keys_in_the_environment(bedrock: Bedrock, config: KBConfig, aws: Path) -> None:
    (aws / "credentials").write_text(DEV, encoding="utf-8")
    ask(replace(config, profile="dev"))
    assert "Credential=AKIAPROFILEDEV000000/" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_blank_profile_is_ignored(bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "")
    ask(config)
    assert "Credential=AKIAENVIRONMENT00000/" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_profile_is_read_from_the_environment(bedrock: Bedrock, aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (aws / "credentials").write_text(DEV, encoding="utf-8")
    for name, value in {"AWS_PROFILE": "dev", "BEDROCK_KB_ID": KB_ID, "BEDROCK_MODEL_ARN": MODEL_ARN}.items():
        monkeypatch.setenv(name, value)
    ask(load_config())
    assert "Credential=AKIAPROFILEDEV000000/" in signed_by(bedrock)
    assert "/ap-northeast-1/bedrock/aws4_request" in signed_by(bedrock)


@pytest.mark.req("BK-1.5", "BK-3.1")
@pytest.mark.usefixtures("bedrock")
def test_unknown_profile_is_an_authentication_error(config: KBConfig) -> None:
    with pytest.raises(AuthenticationError, match=r"\(ProfileNotFound\).*`aws configure list-profiles`") as caught:
        ask(replace(config, profile="missing"))
    assert caught.value.code == "bedrock_kb.profile_not_found"


@pytest.mark.req("BK-3.1")
def test_missing_credentials_are_an_authentication_error(
    bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationError, match=r"No AWS credentials found \(NoCredentialsError\).*AWS_PROFILE"):
        ask(config)
    assert bedrock.calls == []


@pytest.mark.usefixtures("bedrock")
def test_incomplete_keys_are_an_authentication_error(config: KBConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationError, match=r"incomplete \(PartialCredentialsError\)"):
        ask(config)


def write_sso_token(home: Path) -> None:
    """The cache file of `aws sso login`: expired, without a refresh token."""
    cache = home / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    token = {"accessToken": "sso-access-token", "expiresAt": "2020-01-01T00:00:00Z", "region": "us-east-1"}
    name = hashlib.sha1(b"company", usedforsecurity=False).hexdigest()
    (cache / f"{name}.json").write_text(json.dumps(token), encoding="utf-8")


@pytest.mark.req("BK-3.1")
@pytest.mark.parametrize("logged_in_once", [True, False])
def test_missing_or_expired_sso_session_names_the_login_command(
    bedrock: Bedrock, config: KBConfig, aws: Path, logged_in_once: bool
) -> None:
    (aws / "config").write_text(SSO, encoding="utf-8")
    if logged_in_once:
        write_sso_token(aws.parent)
    with pytest.raises(AuthenticationError, match=r"Run `aws sso login --profile sso`") as caught:
        ask(replace(config, profile="sso"))
    assert "sso-access-token" not in caught.value.message
    assert bedrock.calls == []


async def test_new_credentials_are_used_without_a_restart(bedrock: Bedrock, config: KBConfig, aws: Path) -> None:
    credentials = aws / "credentials"
    credentials.write_text(DEV.replace("PROFILEDEV", "PROFILEOLD"), encoding="utf-8")
    knowledge_base = KnowledgeBase(replace(config, profile="dev"))
    bedrock.replies(refuse(403, "ExpiredTokenException", "The security token included in the request is expired"))
    with pytest.raises(AuthenticationError, match="have expired"):
        await knowledge_base.answer(Question(query="q"))
    assert "AKIAPROFILEOLD" in signed_by(bedrock)
    credentials.write_text(DEV, encoding="utf-8")
    await knowledge_base.search(Search(query="q"))
    assert "AKIAPROFILEDEV" in signed_by(bedrock)
    knowledge_base.close()
