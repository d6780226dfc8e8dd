"""Properties 1 and 2: the environment is the configuration, and missing variables are named."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chie.bedrock_kb.config import DEFAULT_REGION, KBConfig, load_config
from chie.bedrock_kb.server import create_server
from chie.errors import ConfigurationError

# Valid values of environment variables that are not blank.
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)
BLANKS = st.one_of(st.none(), st.text(" \t\n"))

REQUIRED = ("BEDROCK_KB_ID", "BEDROCK_MODEL_ARN")
OURS = {
    "AWS_REGION": "us-west-2",
    "BEDROCK_KB_ID": "KB12345678",
    "BEDROCK_MODEL_ARN": "arn:aws:bedrock:us-west-2::foundation-model/m",
}


def loaded(**environment: str | None) -> KBConfig:
    """The configuration loaded from exactly these environment variables."""
    with patch.dict(os.environ, {name: value for name, value in environment.items() if value is not None}, clear=True):
        return load_config()


@pytest.mark.req("BK-P1", "BK-1.1", "BK-1.2", "BK-1.3", "BK-API")
@settings(max_examples=200)
@given(region=st.one_of(BLANKS, VALUES), kb_id=VALUES, model_arn=VALUES)
def test_the_values_of_the_environment_are_loaded_exactly(region: str | None, kb_id: str, model_arn: str) -> None:
    """**Feature: mcp-bedrock-kb, Property 1: 設定値の正確な読み込み**"""
    config = loaded(AWS_REGION=region, BEDROCK_KB_ID=kb_id, BEDROCK_MODEL_ARN=model_arn)
    assert (config.kb_id, config.model_arn) == (kb_id, model_arn)
    assert config.aws_region == (region if region and region.strip() else "ap-northeast-1")


@pytest.mark.req("BK-P2", "BK-1.4")
@settings(max_examples=200)
@given(
    given_values=st.fixed_dictionaries({name: st.one_of(BLANKS, VALUES) for name in REQUIRED}).filter(
        lambda values: not all(value and value.strip() for value in values.values())
    )
)
def test_every_required_variable_that_is_missing_or_blank_is_named(given_values: dict[str, str | None]) -> None:
    """**Feature: mcp-bedrock-kb, Property 2: 必須設定欠落時のエラー**"""
    with pytest.raises(ValueError, match=r"^not configured: ") as caught:
        loaded(**given_values)
    for name, value in given_values.items():
        assert (name in str(caught.value)) == (not (value and value.strip()))


def test_defaults_of_optional_settings() -> None:
    config = loaded(**OURS)
    assert config == KBConfig("us-west-2", OURS["BEDROCK_KB_ID"], OURS["BEDROCK_MODEL_ARN"])
    assert config.profile is None
    assert config.scores


def test_optional_settings_can_be_set() -> None:
    config = loaded(
        **OURS,
        AWS_PROFILE="dev",
        BEDROCK_SEARCH_TYPE="HYBRID",
        BEDROCK_RERANK_MODEL_ARN="arn:rerank",
        BEDROCK_GUARDRAIL_ID="g1",
        BEDROCK_GUARDRAIL_VERSION="3",
        BEDROCK_KB_SCORES="0",
        BEDROCK_KB_TIMEOUT="30",
    )
    expected = KBConfig(
        "us-west-2",
        OURS["BEDROCK_KB_ID"],
        OURS["BEDROCK_MODEL_ARN"],
        profile="dev",
        search_type="HYBRID",
        rerank_model_arn="arn:rerank",
        guardrail_id="g1",
        guardrail_version="3",
        scores=False,
        timeout=30,
    )
    assert config == expected


def test_dotenv_file_is_read() -> None:
    Path(".env").write_text("BEDROCK_KB_ID=FROMFILE01\nBEDROCK_MODEL_ARN=arn:file\n", encoding="utf-8")
    assert loaded().kb_id == "FROMFILE01"
    assert loaded().aws_region == DEFAULT_REGION
    assert loaded(BEDROCK_KB_ID="FROMENV001").kb_id == "FROMENV001"


@pytest.mark.parametrize(
    ("name", "value"), [("BEDROCK_KB_TIMEOUT", "soon"), ("BEDROCK_KB_TIMEOUT", "-1"), ("BEDROCK_SEARCH_TYPE", "FUZZY")]
)
def test_invalid_value_is_reported_without_being_repeated(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name) as caught:
        loaded(**OURS, **{name: value})
    assert value not in str(caught.value)


@pytest.mark.req("BK-1.4")
@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"BEDROCK_MODEL_ARN": "m"}, "not configured: BEDROCK_KB_ID"),
        ({"BEDROCK_KB_ID": "KB1"}, "not configured: BEDROCK_MODEL_ARN"),
        ({}, "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN"),
    ],
)
def test_unconfigured_server_names_the_missing_variables(environment: dict[str, str], message: str) -> None:
    with patch.dict(os.environ, environment, clear=True), pytest.raises(ConfigurationError) as caught:
        create_server()
    assert caught.value.message == message
    assert caught.value.code == "bedrock_kb.not_configured"


@pytest.mark.parametrize(
    "kb_id", ["arn:aws:bedrock:us-east-1:123456789012:knowledge-base/KB12345678", "my docs", "A" * 11]
)
def test_arn_or_name_is_rejected_as_the_id(kb_id: str) -> None:
    with pytest.raises(ConfigurationError, match="BEDROCK_KB_ID is not the id of a knowledge base") as caught:
        create_server(KBConfig("us-east-1", kb_id, "m"))
    assert caught.value.code == "bedrock_kb.id_invalid"


def test_missing_sdk_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.bedrock_kb.server.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"install -e '\S+\[bedrock\]'"):
        create_server(KBConfig("us-east-1", "KB12345678", "m"))
