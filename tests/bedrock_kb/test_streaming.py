"""Streamed answers: progress, cancellation, and every way a stream can break."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from fastmcp import Client
from tests.fakes.bedrock import (
    ANSWER,
    GENERATED,
    REQUEST_ID,
    SESSION,
    Bedrock,
    answer,
    citation,
    damaged,
    event,
    exception,
    hang_up,
    hold,
    output,
    repeat,
    stall,
    stream,
    truncated,
)

from chie.bedrock_kb.bedrock_client import create_boto_client
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, NotFoundError, ServiceError
from chie.bedrock_kb.progress import REPORT_EVERY_CHARACTERS, Progress
from chie.bedrock_kb.requests import Question
from chie.bedrock_kb.server import create_server
from chie.bedrock_kb.service import KnowledgeBase

QUESTION = Question(query="How?")


async def ignore(_step: float, _message: str) -> None:
    """For tests that do not look at the reports."""


async def streamed_answer(config: KBConfig) -> Any:
    return await KnowledgeBase(config).answer(QUESTION, Progress(ignore))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_client_with_a_progress_token_is_notified_as_the_answer_grows(
    bedrock: Bedrock, config: KBConfig, mode: Any
) -> None:
    reports: list[tuple[float, float | None, str | None]] = []
    writing = asyncio.Event()
    released = threading.Event()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))
        if message and message.startswith("Writing"):
            writing.set()

    bedrock.replies(stall(output("x" * REPORT_EVERY_CHARACTERS), until=released, then=(output("y"), citation())))
    async with Client(create_server(config), mode=mode) as client:
        call = asyncio.ensure_future(client.call_tool("kb_answer", {"query": "q"}, progress_handler=listen))
        await writing.wait()
        assert not call.done()
        released.set()
        result = await call
    assert reports[0] == (1, None, "Searching the knowledge base.")
    written = [message for _, _, message in reports[1:] if message and message.startswith("Writing")]
    assert written[0] == f"Writing the answer: {REPORT_EVERY_CHARACTERS} characters so far."
    assert result.structured_content is not None
    assert result.structured_content["answer"] == "x" * REPORT_EVERY_CHARACTERS + "y"


async def test_client_is_notified_while_nothing_arrives(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    steps: list[float] = []

    async def listen(step: float, message: str) -> None:
        steps.append(step)
        if message.startswith("Still waiting"):
            released.set()

    bedrock.replies(hold(released, stream(output("done"), citation())))
    response = await KnowledgeBase(config).answer(QUESTION, Progress(listen, seconds=0.01))
    assert response.answer == "done"
    assert steps == sorted(set(steps))
    assert len(steps) >= 2


@pytest.mark.parametrize("flat", [True, False])
async def test_both_forms_of_a_citation_are_parsed(bedrock: Bedrock, config: KBConfig, flat: bool) -> None:
    bedrock.replies(stream(output(ANSWER), citation(flat=flat)))
    response = await streamed_answer(config)
    assert [cited.uri for cited in response.citations] == ["s3://docs/runbook.md"]
    assert response.citations[0].spans
    assert response.session_id == SESSION


async def test_guardrail_event_sets_a_notice_and_an_unknown_event_is_ignored(
    bedrock: Bedrock, config: KBConfig
) -> None:
    events = (event("surprise", {"a": 1}), output("no."), event("guardrail", {"action": "INTERVENED"}))
    bedrock.replies(stream(*events))
    response = await streamed_answer(config)
    assert response.answer == "no."
    assert response.notice is not None


async def test_stream_with_only_a_guardrail_event_is_complete(bedrock: Bedrock, config: KBConfig) -> None:
    bedrock.replies(stream(event("guardrail", {"action": "INTERVENED"})))
    response = await streamed_answer(config)
    assert response.answer == ""
    assert response.notice is not None


@pytest.mark.req("BK-3.1", "BK-3.2", "BK-3.3")
@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("accessDeniedException", AuthenticationError, False),
        ("badGatewayException", ServiceError, True),
        ("conflictException", ServiceError, True),
        ("dependencyFailedException", ServiceError, True),
        ("internalServerException", ServiceError, True),
        ("resourceNotFoundException", NotFoundError, False),
        ("serviceQuotaExceededException", ServiceError, False),
        ("throttlingException", ServiceError, True),
        ("validationException", ServiceError, False),
    ],
)
async def test_exception_inside_the_stream_is_the_same_error_as_outside(
    bedrock: Bedrock, config: KBConfig, code: str, kind: type[KBError], retryable: bool
) -> None:
    bedrock.replies(stream(output("Half an ans"), exception(code, "no more")))
    with pytest.raises(kind, match="no more") as caught:
        await streamed_answer(config)
    assert caught.value.details() == {
        "error": True,
        "error_type": kind.__name__,
        "message": str(caught.value),
        "code": caught.value.code,
        "params": caught.value.reason.json_params(),
        "aws_code": code[0].upper() + code[1:],
        "retryable": retryable,
        "request_id": REQUEST_ID,
    }
    assert len(bedrock.calls) == 1


FRAME = output("Half an answer")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (stream(FRAME, damaged(output("more"))), "ChecksumMismatch"),
        (truncated(FRAME + output("more")[:-3]), "TruncatedStreamError"),
        (truncated(FRAME + output("more")[:3]), "TruncatedStreamError"),
        (stream(FRAME, output("more")[:40]), "TruncatedStreamError"),
        (stream(), "TruncatedStreamError"),
        (hang_up(FRAME), "InvalidChunkLength"),
    ],
    ids=["bad checksum", "cut in a body", "cut in a head", "cut in a chunk", "empty", "connection closed"],
)
async def test_broken_stream_is_an_error(bedrock: Bedrock, config: KBConfig, reply: Any, code: str) -> None:
    bedrock.replies(reply)
    with pytest.raises(ServiceError, match=r"was truncated or damaged.*Try again in 30 seconds\.") as caught:
        await streamed_answer(config)
    assert caught.value.retryable
    assert caught.value.code == "bedrock_kb.response_incomplete"
    assert caught.value.aws_code in {code, "ProtocolError", "IncompleteRead"}
    assert caught.value.request_id == REQUEST_ID


async def test_stalled_stream_times_out(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    bedrock.replies(stall(FRAME, until=released))
    with pytest.raises(ServiceError, match="did not respond within") as caught:
        await streamed_answer(replace(config, timeout=0.2))
    released.set()
    assert caught.value.aws_code == "ReadTimeoutError"
    assert len(bedrock.calls) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_server_keeps_working_after_a_cancelled_call(bedrock: Bedrock, config: KBConfig, mode: Any) -> None:
    released = threading.Event()
    bedrock.replies(hold(released, answer(GENERATED)))
    async with Client(create_server(config), mode=mode) as client:
        call = asyncio.ensure_future(client.session.call_tool("kb_answer", {"query": "never mind"}))
        await asyncio.to_thread(bedrock.called.acquire)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not released.is_set()
        assert (await client.call_tool("kb_answer", {"query": "and now?"})).structured_content
        released.set()


async def test_cancelling_does_not_wait_for_bedrock(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    bedrock.replies(hold(released, answer(GENERATED)))
    call = asyncio.ensure_future(KnowledgeBase(config).answer(QUESTION))
    await asyncio.to_thread(bedrock.called.acquire)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    released.set()


async def test_cancelling_closes_the_stream(bedrock: Bedrock, config: KBConfig) -> None:
    gone, writing = threading.Event(), asyncio.Event()

    async def listen(_step: float, message: str) -> None:
        if message.startswith("Writing"):
            writing.set()

    bedrock.replies(repeat(FRAME, gone=gone))
    call = asyncio.ensure_future(KnowledgeBase(config).answer(QUESTION, Progress(listen)))
    await writing.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(gone.wait, 10)


async def test_failed_progress_notification_ends_the_call(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()

    async def gone(_step: float, message: str) -> None:
        if message.startswith("Writing"):
            raise ConnectionResetError

    bedrock.replies(stall(FRAME, until=released))
    with pytest.raises(ConnectionResetError):
        await KnowledgeBase(config).answer(QUESTION, Progress(gone))
    released.set()


async def test_thirty_two_questions_run_concurrently_over_one_boto_client(
    bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is answered before all have been received, so they must run concurrently."""
    built = []

    def counting(config: KBConfig) -> Any:
        built.append(config)
        return create_boto_client(config)

    monkeypatch.setattr("chie.bedrock_kb.bedrock_client.create_boto_client", counting)
    released = threading.Event()
    bedrock.default["RetrieveAndGenerate"] = hold(released, answer(GENERATED))
    knowledge_base = KnowledgeBase(config)
    calls = asyncio.gather(*(knowledge_base.answer(QUESTION) for _ in range(32)))
    for _ in range(32):
        await asyncio.to_thread(bedrock.called.acquire)
    released.set()
    answers = await calls
    assert {one.answer for one in answers} == {ANSWER}
    assert len(built) == 1
    knowledge_base.close()
