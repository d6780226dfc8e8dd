"""A fake Bedrock on loopback, and an environment that points the real SDK at it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.bedrock import Bedrock, serving

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.threads import THREAD_NAME

KB_ID = "KB12345678"
MODEL_ARN = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet"


@pytest.fixture
def config() -> KBConfig:
    """Without scores, so that a test can script and count the one call of an answer; test_scores.py has the default."""
    return KBConfig("us-east-1", KB_ID, MODEL_ARN, scores=False)


@pytest.fixture
def bedrock(aws: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    """Every request must be valid in the SDK's model of the API, in every test."""
    assert aws.exists()
    with serving() as bedrock:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
        yield bedrock
        _wait_for_abandoned_calls()
    assert bedrock.invalid_requests == []


def _wait_for_abandoned_calls() -> None:
    """An abandoned call ends by itself; wait for it, so that it ends within its own test."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keys in the environment, a config file of the test's own, and no access to the machine's credentials."""
    folder = tmp_path / ".aws"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT00000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "environment-secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return folder
