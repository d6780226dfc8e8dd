"""A knowledge base on loopback and an environment that points the real SDK at it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.bedrock import Bedrock, serving

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.threads import THREAD

KB_ID = "KB12345678"
MODEL_ARN = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet"


@pytest.fixture
def config() -> KBConfig:
    return KBConfig("us-east-1", KB_ID, MODEL_ARN)


@pytest.fixture
def bedrock(aws: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    """Every request that our code sends must fit the SDK's model of the API, whatever else a test is about."""
    assert aws.exists()
    with serving() as bedrock:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
        yield bedrock
        _wait_for_abandoned_calls()
    assert bedrock.faults == []


def _wait_for_abandoned_calls() -> None:
    """A call that nobody waits for any more ends by itself; here it shall do so within its own test."""
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keys in the environment, a config file of the test's own, and no way to the machine's credentials."""
    folder = tmp_path / ".aws"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT00000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "environment-secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return folder
