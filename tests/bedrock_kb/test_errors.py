"""Property 6, and the text of every AWS error: what to do, and nothing secret."""

import json
import threading
from collections.abc import Callable
from typing import Any

import botocore.exceptions
import pytest
from botocore.exceptions import ClientError
from fastmcp import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import GENERATED, REQUEST_ID, Bedrock, answer, hold, refuse

from chie.bedrock_kb.aws_errors import MAX_SENTENCE_LENGTH, OTHER, RULES, AwsFailure, error_of
from chie.bedrock_kb.bedrock_client import create_boto_client, query_knowledge_base
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, NotFoundError, ServiceError
from chie.bedrock_kb.server import create_server

QUERY = "What is the launch code of project Tanuki?"

CODES = st.one_of(
    st.sampled_from(sorted(RULES)), st.from_regex(r"[A-Z][A-Za-z]{3,40}(Exception|Error)", fullmatch=True)
)


class Failing:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def retrieve_and_generate(self, **_: Any) -> Any:
        raise self._error


def failed(error: Exception, config: KBConfig | None = None) -> KBError:
    with pytest.raises(KBError) as caught:
        query_knowledge_base(Failing(error), config or KBConfig("us-east-1", KB_ID, MODEL_ARN), QUERY)
    return caught.value


def client_error(code: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "RetrieveAndGenerate")


@pytest.mark.req("BK-P6", "BK-3.3")
@settings(max_examples=200)
@given(code=CODES, sentence=st.text(st.characters(categories=["L", "N"]), max_size=100))
def test_api_error_keeps_the_original_code_or_sentence(code: str, sentence: str) -> None:
    """**Feature: mcp-bedrock-kb, Property 6: APIエラーで例外詳細を保持**"""
    error = failed(client_error(code, sentence))
    assert code in error.message
    assert error.aws_code == code
    assert error.details()["error_type"] in {"AuthenticationError", "NotFoundError", "ServiceError"}
    if code not in RULES:
        assert sentence in error.message


EVERY_CODE = [
    (403, "AccessDeniedException", AuthenticationError, False, "bedrock:RetrieveAndGenerate"),
    (403, "UnrecognizedClientException", AuthenticationError, False, "AWS_PROFILE"),
    (403, "ExpiredTokenException", AuthenticationError, False, "AWS_PROFILE"),
    (403, "InvalidSignatureException", AuthenticationError, False, "clock"),
    (403, "MissingAuthenticationTokenException", AuthenticationError, False, "AWS_PROFILE"),
    (403, "IncompleteSignatureException", AuthenticationError, False, "secret access key"),
    (404, "ResourceNotFoundException", NotFoundError, False, "Set `BEDROCK_KB_ID`"),
    (429, "ThrottlingException", ServiceError, True, "Try again in 30 seconds."),
    (400, "ServiceQuotaExceededException", ServiceError, False, "Service Quotas"),
    (400, "ValidationException", ServiceError, False, "Check `BEDROCK_KB_ID`, `BEDROCK_MODEL_ARN`"),
    (424, "DependencyFailedException", ServiceError, True, "Try again in 30 seconds."),
    (502, "BadGatewayException", ServiceError, True, "Try again in 30 seconds."),
    (500, "InternalServerException", ServiceError, True, "Try again in 30 seconds."),
    (503, "ServiceUnavailableException", ServiceError, True, "Try again in 30 seconds."),
    (409, "ConflictException", ServiceError, True, "Try again in 30 seconds."),
    (418, "TeapotException", ServiceError, False, "look up the code"),
]


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the SDK's pauses between attempts."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@pytest.mark.req("BK-3.1", "BK-3.2", "BK-3.3", "BK-3.5")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("status", "code", "kind", "retryable", "advice"), EVERY_CODE, ids=[row[1] for row in EVERY_CODE]
)
@pytest.mark.usefixtures("no_waiting")
async def test_every_aws_code_is_a_tool_error_with_advice(
    bedrock: Bedrock,
    config: KBConfig,
    mode: Any,
    status: int,
    code: str,
    kind: type[KBError],
    retryable: bool,
    advice: str,
) -> None:
    bedrock.default["RetrieveAndGenerate"] = bedrock.default["RetrieveAndGenerateStream"] = refuse(
        status, code, f"AWS rejects '{QUERY}'"
    )
    async with Client(create_server(config), mode=mode) as client:
        result = await client.call_tool("kb_answer", {"query": QUERY}, raise_on_error=False)
    assert result.is_error
    [text] = result.content
    assert result.structured_content is not None
    assert result.structured_content["code"] == RULES.get(code, OTHER).code
    assert result.structured_content["params"]["aws_error"].startswith(code)
    assert result.structured_content == {
        "error": True,
        "error_type": kind.__name__,
        "message": text.text,
        "code": result.structured_content["code"],
        "params": result.structured_content["params"],
        "aws_code": code,
        "retryable": retryable,
        "request_id": REQUEST_ID,
    }
    assert code in text.text
    assert advice in text.text
    assert QUERY not in json.dumps(result.structured_content)


def call(bedrock: Bedrock, config: KBConfig) -> Any:
    assert bedrock.url
    return query_knowledge_base(create_boto_client(config), config, QUERY)


@pytest.mark.usefixtures("no_waiting")
def test_throttled_call_is_retried(bedrock: Bedrock, config: KBConfig) -> None:
    bedrock.replies(refuse(429, "ThrottlingException"), refuse(503, "ServiceUnavailableException"))
    assert call(bedrock, config).answer
    assert bedrock.operations == ["RetrieveAndGenerate"] * 3


@pytest.mark.usefixtures("no_waiting")
def test_throttling_error_contains_retry_after(bedrock: Bedrock, config: KBConfig) -> None:
    bedrock.default["RetrieveAndGenerate"] = refuse(429, "ThrottlingException", "Rate exceeded", retry_after="7")
    with pytest.raises(ServiceError, match=r"Rate exceeded.*Try again in 7 seconds\.") as caught:
        call(bedrock, config)
    assert caught.value.retryable
    assert len(bedrock.calls) == 3


def test_timed_out_call_is_not_retried(bedrock: Bedrock) -> None:
    released = threading.Event()
    bedrock.default["RetrieveAndGenerate"] = hold(released, answer(GENERATED))
    config = KBConfig("us-east-1", KB_ID, MODEL_ARN, timeout=0.2)
    with pytest.raises(ServiceError, match=r"did not respond within 0\.2 seconds \(ReadTimeoutError") as caught:
        call(bedrock, config)
    released.set()
    assert caught.value.retryable
    assert "BEDROCK_KB_TIMEOUT" in caught.value.message
    assert len(bedrock.calls) == 1


@pytest.mark.usefixtures("no_waiting", "aws")
def test_unreachable_endpoint_is_a_service_error(config: KBConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", "http://127.0.0.1:9")
    with pytest.raises(ServiceError, match=r"is unreachable \(EndpointConnectionError.*network") as caught:
        query_knowledge_base(create_boto_client(config), config, QUERY)
    assert caught.value.retryable
    assert caught.value.request_id is None


@pytest.mark.parametrize(
    ("code", "sentence", "advice"),
    [
        (
            "ValidationException",
            "You don't have access to the model with the specified model ID.",
            "under Model access",
        ),
        ("AccessDeniedException", "You don't have access to the model with the specified model ID.", "Model access"),
        ("ValidationException", "with on-demand throughput isn’t supported", "inference profile of that model"),
        ("ValidationException", "The provided model identifier is invalid.", "of this region (us-east-1)"),
        ("ValidationException", "not supported for managed knowledge bases", "Use `kb_search`"),
        ("ValidationException", "account is unauthorized to use RerankingConfiguration", "BEDROCK_RERANK_MODEL_ARN"),
        ("ValidationException", "HYBRID search type is not supported", "search_type `SEMANTIC`"),
        ("ValidationException", "Session with Id is not valid", "Omit session_id"),
        ("ValidationException", "Guardrail was not found", "BEDROCK_GUARDRAIL_ID"),
        ("ThrottlingException", "Too many guardrail requests", "Try again in 30 seconds."),
        ("AccessDeniedException", "assumed-role/Reader/session-7 is not authorized", "bedrock:RetrieveAndGenerate"),
    ],
)
def test_aws_sentence_distinguishes_the_reasons_of_one_code(code: str, sentence: str, advice: str) -> None:
    error = failed(client_error(code, sentence))
    assert advice in error.message
    assert sentence in error.message


@pytest.mark.req("BK-3.1")
def test_sign_in_advice_names_the_profile() -> None:
    config = KBConfig("us-east-1", KB_ID, MODEL_ARN, profile="dev")
    error = failed(client_error("ExpiredTokenException"), config)
    assert "`aws sso login --profile dev`" in error.message
    assert "aws login --profile dev" in error_of(AwsFailure(("LoginError",)), config).message


@pytest.mark.parametrize(
    "leak",
    [
        lambda: client_error("ValidationException", f"Value '{QUERY}' at 'input.text' failed to satisfy constraint"),
        lambda: client_error("ValidationException", f"cannot parse {QUERY}"),
        lambda: client_error("InvalidSignatureException", "The canonical string was 'x-amz-security-token:FwoGZXIvYX'"),
        lambda: client_error("AccessDeniedException", "AKIAIOSFODNN7EXAMPLE may not"),
        lambda: client_error("InternalServerException", "token=FwoGZXIvYX"),
        lambda: botocore.exceptions.ProxyConnectionError(proxy_url="http://user:FwoGZXIvYX@proxy:3128"),
        lambda: botocore.exceptions.ParamValidationError(report=f"Invalid length, value: {QUERY}"),
    ],
)
def test_message_contains_no_query_token_or_key(leak: Callable[[], Exception]) -> None:
    message = failed(leak()).message
    for secret in (QUERY, "FwoGZXIvYX", "AKIAIOSFODNN7EXAMPLE"):
        assert secret not in message


def test_message_contains_no_filter_value_and_no_session() -> None:
    failure = AwsFailure(("ValidationException",), "filter on team=Tanuki in s-42 is unsupported")
    message = error_of(failure, KBConfig("r", "k", "m"), hidden=["Tanuki", "s-42", ""]).message
    assert "filter on team=… in … is unsupported" in message


def test_value_that_aws_repeats_in_another_form_is_removed() -> None:
    failure = AwsFailure(
        ("ValidationException",), "Value 'Tan\\u0075ki\nplan' at 'input.text' failed to satisfy constraint"
    )
    message = error_of(failure, KBConfig("r", "k", "m"), hidden=["Tanuki\nplan"]).message
    assert "Value at 'input.text' failed" in message


def test_unclosed_quotes_take_linear_time() -> None:
    """A search from every opening quote would take hours."""
    sentence = "Value 'x' at 'y' and " + "value '" * 300_000
    message = error_of(AwsFailure(("ValidationException",), sentence), KBConfig("r", "k", "m")).message
    assert "Value at 'y' and value 'value '" in message


def test_one_letter_query_is_removed_only_as_a_word() -> None:
    failure = AwsFailure(("InternalServerException",), "a failure at hand: a")
    message = error_of(failure, KBConfig("r", "k", "m"), hidden=["a"]).message
    assert "… failure at hand: …" in message


def test_the_query_does_not_influence_the_advice() -> None:
    failure = AwsFailure(("ValidationException",), "cannot parse 'How long is a session?'")
    message = error_of(failure, KBConfig("r", "k", "m"), hidden=["How long is a session?"]).message
    assert "session" not in message


def test_long_aws_sentence_is_truncated() -> None:
    assert len(failed(client_error("InternalServerException", "x" * 9_000)).message) < MAX_SENTENCE_LENGTH + 200
