"""While an answer is written: progress, cancellation, and every way in which a stream can break."""

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
    cut_short,
    damaged,
    event,
    exception,
    hang_up,
    hold,
    output,
    stall,
    stream,
    talk_on,
)

from chie.bedrock_kb.bedrock_client import connect
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, NotFoundError, ServiceError
from chie.bedrock_kb.progress import CHARACTERS, Progress
from chie.bedrock_kb.requests import Question
from chie.bedrock_kb.server import create_server
from chie.bedrock_kb.service import KnowledgeBase

QUESTION = Question(query="How?")


async def quiet(_step: float, _message: str) -> None:
    """For a test that does not look at the reports."""


async def aloud(config: KBConfig) -> Any:
    return await KnowledgeBase(config).answer(QUESTION, Progress(quiet))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_asks_for_progress_is_told_as_the_answer_grows(
    bedrock: Bedrock, config: KBConfig, mode: Any
) -> None:
    told: list[tuple[float, float | None, str | None]] = []
    heard = asyncio.Event()
    released = threading.Event()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        if message and message.startswith("Writing"):
            heard.set()

    bedrock.replies(stall(output("x" * CHARACTERS), until=released, then=(output("y"), citation())))
    async with Client(create_server(config), mode=mode) as client:
        call = asyncio.ensure_future(client.call_tool("kb_answer", {"query": "q"}, progress_handler=listen))
        await heard.wait()
        assert not call.done()
        released.set()
        result = await call
    assert told[0] == (1, None, "Searching the knowledge base.")
    assert told[1] == (2, None, f"Writing the answer: {CHARACTERS} characters so far.")
    assert result.structured_content is not None
    assert result.structured_content["answer"] == "x" * CHARACTERS + "y"


async def test_a_client_that_hears_nothing_for_long_is_told_that_we_still_wait(
    bedrock: Bedrock, config: KBConfig
) -> None:
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
async def test_both_forms_of_a_citation_are_read(bedrock: Bedrock, config: KBConfig, flat: bool) -> None:
    bedrock.replies(stream(output(ANSWER), citation(flat=flat)))
    response = await aloud(config)
    assert [cited.uri for cited in response.citations] == ["s3://docs/runbook.md"]
    assert response.citations[0].spans
    assert response.session_id == SESSION


async def test_a_guardrail_s_event_is_noticed_and_an_unknown_one_is_passed_over(
    bedrock: Bedrock, config: KBConfig
) -> None:
    events = (event("surprise", {"a": 1}), output("no."), event("guardrail", {"action": "INTERVENED"}))
    bedrock.replies(stream(*events))
    response = await aloud(config)
    assert response.answer == "no."
    assert response.notice is not None


async def test_a_guardrail_that_leaves_no_word_is_not_a_broken_stream(bedrock: Bedrock, config: KBConfig) -> None:
    bedrock.replies(stream(event("guardrail", {"action": "INTERVENED"})))
    response = await aloud(config)
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
async def test_a_fault_inside_the_stream_is_the_same_as_outside_it(
    bedrock: Bedrock, config: KBConfig, code: str, kind: type[KBError], retryable: bool
) -> None:
    bedrock.replies(stream(output("Half an ans"), exception(code, "no more")))
    with pytest.raises(kind, match="no more") as caught:
        await aloud(config)
    assert caught.value.details() == {
        "error": True,
        "error_type": kind.__name__,
        "message": str(caught.value),
        "code": code[0].upper() + code[1:],
        "retryable": retryable,
        "request_id": REQUEST_ID,
    }
    assert len(bedrock.calls) == 1


FRAME = output("Half an answer")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (stream(FRAME, damaged(output("more"))), "ChecksumMismatch"),
        (cut_short(FRAME + output("more")[:-3]), "BrokenStreamError"),
        (cut_short(FRAME + output("more")[:3]), "BrokenStreamError"),
        (stream(FRAME, output("more")[:40]), "BrokenStreamError"),
        (stream(), "BrokenStreamError"),
        (hang_up(FRAME), "InvalidChunkLength"),
    ],
    ids=["bad checksum", "cut in a body", "cut in a head", "cut in a chunk", "empty", "connection closed"],
)
async def test_a_broken_stream_is_never_taken_for_a_whole_answer(
    bedrock: Bedrock, config: KBConfig, reply: Any, code: str
) -> None:
    bedrock.replies(reply)
    with pytest.raises(ServiceError, match=r"broke off or arrived damaged.*Try again in 30 seconds\.") as caught:
        await aloud(config)
    assert caught.value.retryable
    assert caught.value.code in {code, "ProtocolError", "IncompleteRead"}
    assert caught.value.request_id == REQUEST_ID


async def test_a_stream_that_stalls_is_given_up_after_the_timeout(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    bedrock.replies(stall(FRAME, until=released))
    with pytest.raises(ServiceError, match="did not answer within") as caught:
        await aloud(replace(config, timeout=0.2))
    released.set()
    assert caught.value.code == "ReadTimeoutError"
    assert len(bedrock.calls) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_cancels_is_let_go_and_the_server_goes_on(
    bedrock: Bedrock, config: KBConfig, mode: Any
) -> None:
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


async def test_cancelling_ends_the_wait_while_bedrock_still_thinks(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    bedrock.replies(hold(released, answer(GENERATED)))
    call = asyncio.ensure_future(KnowledgeBase(config).answer(QUESTION))
    await asyncio.to_thread(bedrock.called.acquire)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    released.set()


async def test_a_cancelled_answer_s_stream_is_closed_so_that_bedrock_can_stop(
    bedrock: Bedrock, config: KBConfig
) -> None:
    gone, heard = threading.Event(), asyncio.Event()

    async def listen(_step: float, message: str) -> None:
        if message.startswith("Writing"):
            heard.set()

    bedrock.replies(talk_on(FRAME, gone=gone))
    call = asyncio.ensure_future(KnowledgeBase(config).answer(QUESTION, Progress(listen)))
    await heard.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(gone.wait, 10)


async def test_a_client_that_can_no_longer_be_told_is_not_served_on(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()

    async def gone(_step: float, message: str) -> None:
        if message.startswith("Writing"):
            raise ConnectionResetError

    bedrock.replies(stall(FRAME, until=released))
    with pytest.raises(ConnectionResetError):
        await KnowledgeBase(config).answer(QUESTION, Progress(gone))
    released.set()


async def test_thirty_two_questions_are_asked_at_once_over_one_client(
    bedrock: Bedrock, config: KBConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is answered before all have been asked, so they can only be answered if they run side by side."""
    built = []

    def counting(config: KBConfig) -> Any:
        built.append(config)
        return connect(config)

    monkeypatch.setattr("chie.bedrock_kb.bedrock_client.connect", counting)
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
