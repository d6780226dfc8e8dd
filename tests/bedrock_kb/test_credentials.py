"""Whose keys sign a call, and what is said when there are none, or old ones."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import Bedrock, refuse

from chie.bedrock_kb.bedrock_client import connect, query_knowledge_base
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
    return query_knowledge_base(connect(config), config, "q")


def test_keys_of_the_environment_sign_for_the_configured_region(bedrock: Bedrock, config: KBConfig) -> None:
    ask(replace(config, aws_region="eu-west-3"))
    assert "Credential=AKIAENVIRONMENT00000/" in signed_by(bedrock)
    assert "/eu-west-3/bedrock/aws4_request" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_a_profile_signs_even_where_the_environment_has_keys(bedrock: Bedrock, config: KBConfig, aws: Path) -> None:
    (aws / "credentials").write_text(DEV, encoding="utf-8")
    ask(replace(config, profile="dev"))
    assert "Credential=AKIAPROFILEDEV000000/" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_a_blank_profile_is_no_profile(bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "")
    ask(config)
    assert "Credential=AKIAENVIRONMENT00000/" in signed_by(bedrock)


@pytest.mark.req("BK-1.5")
def test_a_profile_is_taken_from_the_environment(bedrock: Bedrock, aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (aws / "credentials").write_text(DEV, encoding="utf-8")
    for name, value in {"AWS_PROFILE": "dev", "BEDROCK_KB_ID": KB_ID, "BEDROCK_MODEL_ARN": MODEL_ARN}.items():
        monkeypatch.setenv(name, value)
    ask(load_config())
    assert "Credential=AKIAPROFILEDEV000000/" in signed_by(bedrock)
    assert "/ap-northeast-1/bedrock/aws4_request" in signed_by(bedrock)


@pytest.mark.req("BK-1.5", "BK-3.1")
@pytest.mark.usefixtures("bedrock")
def test_a_profile_that_does_not_exist_is_an_authentication_error(config: KBConfig) -> None:
    with pytest.raises(AuthenticationError, match=r"\(ProfileNotFound\)\. Set it to one that `aws configure list-prof"):
        ask(replace(config, profile="nobody"))


@pytest.mark.req("BK-3.1")
def test_no_credentials_at_all_is_an_authentication_error(
    bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationError, match=r"no AWS credentials were found \(NoCredentialsError\).*AWS_PROFILE"):
        ask(config)
    assert bedrock.calls == []


@pytest.mark.usefixtures("bedrock")
def test_half_a_pair_of_keys_is_an_authentication_error(config: KBConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationError, match=r"incomplete \(PartialCredentialsError\)"):
        ask(config)


def write_sso_token(home: Path) -> None:
    """As `aws sso login` leaves it, long ago and without a way to renew it."""
    cache = home / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    token = {"accessToken": "sso-access-token", "expiresAt": "2020-01-01T00:00:00Z", "region": "us-east-1"}
    name = hashlib.sha1(b"company", usedforsecurity=False).hexdigest()
    (cache / f"{name}.json").write_text(json.dumps(token), encoding="utf-8")


@pytest.mark.req("BK-3.1")
@pytest.mark.parametrize("logged_in_once", [True, False])
def test_an_sso_session_that_has_ended_or_never_began_says_how_to_sign_in(
    bedrock: Bedrock, config: KBConfig, aws: Path, logged_in_once: bool
) -> None:
    (aws / "config").write_text(SSO, encoding="utf-8")
    if logged_in_once:
        write_sso_token(aws.parent)
    with pytest.raises(AuthenticationError, match=r"Run `aws sso login --profile sso`") as caught:
        ask(replace(config, profile="sso"))
    assert "sso-access-token" not in caught.value.message
    assert bedrock.calls == []


async def test_signing_in_again_is_enough_the_server_need_not_be_restarted(
    bedrock: Bedrock, config: KBConfig, aws: Path
) -> None:
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
