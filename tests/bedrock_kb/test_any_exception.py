"""Property 6 for every exception: whatever the SDK raises keeps its type, and its text where that is safe."""

import asyncio
import builtins
import concurrent.futures
import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import boto3.exceptions
import botocore.eventstream
import botocore.exceptions
import pytest
import urllib3.exceptions
from fastmcp import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN

from chie.bedrock_kb import bedrock_client
from chie.bedrock_kb.aws_errors import RULES
from chie.bedrock_kb.bedrock_client import create_boto_client, query_knowledge_base
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import KBError, ServiceError
from chie.bedrock_kb.requests import Question
from chie.bedrock_kb.server import create_server
from chie.logging import OneLine, stamp

QUERY = "狸計画の発射コードは？"
CONFIG = KBConfig("us-east-1", KB_ID, MODEL_ARN, scores=False)
MODULES = (
    builtins,
    asyncio,
    concurrent.futures,
    http.client,
    json,
    socket,
    ssl,
    boto3.exceptions,
    botocore.eventstream,
    botocore.exceptions,
    urllib3.exceptions,
)


def exceptions_of(module: ModuleType) -> Iterator[type[Exception]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Exception):
            yield value


EVERY_CLASS = sorted({kind for module in MODULES for kind in exceptions_of(module)}, key=repr)


class Unprintable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("no text")


def instance(kind: type[Exception], text: str) -> Exception:
    """An instance, whatever arguments its constructor takes; some keep no text then."""
    if issubclass(kind, botocore.exceptions.ClientError):
        return kind({"Error": {"Code": kind.__name__, "Message": text}}, "RetrieveAndGenerate")
    try:
        return kind(text)
    except Exception:  # noqa: BLE001 - constructors of any library
        error = kind.__new__(kind, "…", [ValueError(text)]) if issubclass(kind, ExceptionGroup) else kind.__new__(kind)
        Exception.__init__(error, text)
        return error


WORDS = st.text(st.characters(categories=["L", "N"]), max_size=60)
KNOWN = st.builds(instance, st.sampled_from([*EVERY_CLASS, Unprintable]), WORDS)
NEW_CLASSES = st.builds(
    lambda name, base: type(name, (base,), {}),
    st.text(st.characters(categories=["L"]), min_size=1, max_size=60),
    st.sampled_from([kind for kind in EVERY_CLASS if not issubclass(kind, ExceptionGroup)]),
)
ANY_EXCEPTION = st.one_of(KNOWN, st.builds(instance, NEW_CLASSES, WORDS))


class Broken:
    """Makes the real boto client fail where it would send the request."""

    def __init__(self) -> None:
        self.error: Exception = ValueError()

    def __call__(self, **_: object) -> None:
        raise self.error

    def create_boto_client(self, config: KBConfig) -> Any:
        client = create_boto_client(config)
        client.meta.events.register("before-send.bedrock-agent-runtime", self)
        return client


@pytest.fixture
def broken(aws: object) -> Iterator[Broken]:
    """Without the SDK's pauses between attempts."""
    assert aws
    with patch("botocore.endpoint.time.sleep", lambda _: None):
        yield Broken()


@pytest.fixture
def boto(broken: Broken) -> Any:
    return broken.create_boto_client(CONFIG)


def safe_text(error: Exception) -> str:
    try:
        return str(error)
    except RuntimeError:
        return ""


@pytest.mark.req("BK-P6", "BK-3.3")
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(error=ANY_EXCEPTION)
def test_any_exception_of_a_call_keeps_its_type(broken: Broken, boto: Any, error: Exception) -> None:
    """**Feature: mcp-bedrock-kb, Property 6: APIエラーで例外詳細を保持**"""
    broken.error = error
    with pytest.raises(KBError) as caught:
        query_knowledge_base(boto, CONFIG, QUERY)
    name = type(error).__name__
    if isinstance(error, botocore.exceptions.ClientError):  # the name is AWS's code there, capitalized
        name = name[:1].upper() + name[1:]
    assert caught.value.aws_code == name
    assert name in caught.value.message
    assert caught.value.details()["error_type"] in {"AuthenticationError", "ServiceError"}
    if caught.value.code == "bedrock_kb.call_unexpected":
        assert " ".join(safe_text(error).split()) in caught.value.message


@pytest.mark.req("BK-P6", "BK-3.3")
@pytest.mark.parametrize("kind", EVERY_CLASS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_known_exception_keeps_its_name(kind: type[Exception]) -> None:
    """Where no rule matches, a bug is told from an error of the SDK: the advice differs."""

    class Failing:
        def retrieve_and_generate(self, **_: object) -> None:
            raise instance(kind, "some reason")

    with pytest.raises(KBError) as caught:
        query_knowledge_base(Failing(), CONFIG, QUERY)
    assert kind.__name__ in caught.value.message
    by_rule = [base.__name__ for base in kind.__mro__ if base.__name__ in RULES]
    assert (caught.value.code == "bedrock_kb.call_unexpected") == (not by_rule)


@pytest.mark.req("BK-P6", "BK-3.5")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tool_error_has_the_type_and_the_log_the_stack_without_the_question(
    broken: Broken, mode: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bedrock_client, "create_boto_client", broken.create_boto_client)
    async with Client(create_server(CONFIG), mode=mode) as client:
        for tool in ("kb_answer", "kb_search"):
            broken.error = LookupError(f"no idea about {QUERY} in the cache")
            result = await client.call_tool(tool, {"query": QUERY}, raise_on_error=False)
            assert result.is_error
            assert result.structured_content is not None
            assert result.structured_content["error_type"] == "ServiceError"
            assert result.structured_content["code"] == "bedrock_kb.call_unexpected"
            assert "(LookupError: no idea about … in the cache)" in result.structured_content["message"]
    logged = [record.getMessage() for record in caplog.records if record.name == "chie.bedrock_kb.bedrock_client"]
    assert len(logged) == 2
    assert all("(LookupError: no idea about … in the cache)" in line and "botocore" in line for line in logged)
    assert QUERY not in "".join(OneLine().format(record) for record in caplog.records if stamp(record))


def test_exception_that_ends_the_process_is_not_translated() -> None:
    class Ending:
        def retrieve_and_generate(self, **_: object) -> None:
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        query_knowledge_base(Ending(), CONFIG, QUERY)


def test_stream_that_fails_unexpectedly_keeps_the_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(bedrock_client, "_collect", collect)

    class Streaming:
        def retrieve_and_generate_stream(self, **_: object) -> dict[str, Any]:
            return {"stream": Path(__file__).open("rb")}

    question = Question(query=QUERY)
    client = bedrock_client.BedrockClient(CONFIG, Streaming())  # type: ignore[arg-type]
    with pytest.raises(ServiceError, match="BlockingIOError"):
        client.retrieve_and_generate_stream(question, lambda _: True)
