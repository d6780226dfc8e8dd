"""The scores of citations, which come from a search beside the generation."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from fastmcp import Client
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import ANSWER, GENERATED, RETRIEVED, Bedrock, Reply, answer, hold, refuse

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.requests import Question
from chie.bedrock_kb.server import create_server
from chie.bedrock_kb.service import KnowledgeBase
from chie.bedrock_kb.threads import THREAD_NAME


@pytest.fixture
def config() -> KBConfig:
    return KBConfig("us-east-1", KB_ID, MODEL_ARN)


@pytest.fixture(params=["auto", "legacy"])
async def client(bedrock: Bedrock, config: KBConfig, request: pytest.FixtureRequest) -> AsyncIterator[Client[Any]]:
    assert bedrock.url
    async with Client(create_server(config), mode=request.param) as client:
        yield client


def calls_in_progress() -> int:
    return sum(thread.name == THREAD_NAME for thread in threading.enumerate())


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds, and then handle what that has caused."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.to_thread(lambda: None)
    for _ in range(5):
        await asyncio.sleep(0)


async def ask(client: Client[Any], **arguments: Any) -> dict[str, Any]:
    result = await client.session.call_tool("kb_answer", {"query": "再起動の方法は？", **arguments})
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


@pytest.mark.req("BK-2.3")
async def test_citations_have_scores_by_default(client: Client[Any], bedrock: Bedrock) -> None:
    result = await ask(client, max_results=3)
    assert [(cited["content"], cited["score"]) for cited in result["citations"]] == [("Restart the pod.", 0.91)]
    assert result["notice"] is None
    [search] = [call.params for call in bedrock.calls if call.operation == "Retrieve"]
    assert search["retrievalQuery"] == {"text": "再起動の方法は？"}
    assert search["retrievalConfiguration"] == {"vectorSearchConfiguration": {"numberOfResults": 3}}
    assert sorted(bedrock.operations) == ["Retrieve", "RetrieveAndGenerate"]


async def test_search_and_generation_run_at_the_same_time(client: Client[Any], bedrock: Bedrock) -> None:
    """Neither is answered before both have been received."""
    both = threading.Event()
    bedrock.default["RetrieveAndGenerate"] = hold(both, answer(GENERATED))
    bedrock.default["Retrieve"] = hold(both, answer(RETRIEVED))
    call = asyncio.ensure_future(ask(client))
    for _ in range(2):
        await asyncio.to_thread(bedrock.called.acquire)
    both.set()
    assert (await call)["citations"][0]["score"] == 0.91


async def test_the_operator_can_save_the_search(bedrock: Bedrock, config: KBConfig) -> None:
    found = await KnowledgeBase(replace(config, scores=False)).answer(Question(query="q"))
    assert [cited.score for cited in found.citations] == [None]
    assert found.notice is None
    assert bedrock.operations == ["RetrieveAndGenerate"]


async def test_answer_survives_a_failed_search(
    client: Client[Any], bedrock: Bedrock, caplog: pytest.LogCaptureFixture
) -> None:
    bedrock.default["Retrieve"] = refuse(403, "AccessDeniedException", "not authorized: bedrock:Retrieve")
    result = await ask(client)
    assert result["answer"] == ANSWER
    assert result["citations"][0]["score"] is None
    assert "AccessDeniedException" in result["notice"]
    (logged,) = [record.getMessage() for record in caplog.records if record.name == "chie.bedrock_kb.service"]
    reason = result["notice"].removeprefix("The citations have no scores: ")
    assert logged == f"no scores for kb_answer: bedrock_kb.permission_denied: {reason}"


async def test_answer_does_not_wait_for_a_slow_search(
    client: Client[Any], bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chie.bedrock_kb.service.SCORES_GRACE_SECONDS", 0.01)
    released = threading.Event()
    bedrock.default["Retrieve"] = hold(released, answer(RETRIEVED))
    result = await ask(client)
    released.set()
    assert result["answer"] == ANSWER
    assert result["citations"][0]["score"] is None
    assert result["notice"] == "The citations have no scores: The search for them took longer than the answer."


async def test_answer_without_citations_does_not_wait_for_scores(
    client: Client[Any], bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chie.bedrock_kb.service.SCORES_GRACE_SECONDS", 1_000)
    released = threading.Event()
    bedrock.default["RetrieveAndGenerate"] = answer({**GENERATED, "citations": []})
    bedrock.default["Retrieve"] = hold(released, answer(RETRIEVED))
    result = await ask(client)
    released.set()
    assert (result["answer"], result["citations"], result["notice"]) == (ANSWER, [], None)


@pytest.mark.parametrize("retrieved", [answer(RETRIEVED), refuse(403, "AccessDeniedException")])
async def test_notice_of_the_answer_comes_before_that_of_the_search(
    client: Client[Any], bedrock: Bedrock, retrieved: Reply
) -> None:
    bedrock.default["RetrieveAndGenerate"] = answer({**GENERATED, "guardrailAction": "INTERVENED"})
    bedrock.default["Retrieve"] = retrieved
    assert (await ask(client))["notice"].startswith("A Bedrock guardrail intervened")


async def test_guardrail_that_blocks_only_the_search_is_noticed(client: Client[Any], bedrock: Bedrock) -> None:
    bedrock.default["Retrieve"] = answer({"retrievalResults": [], "guardrailAction": "INTERVENED"})
    result = await ask(client)
    assert result["citations"][0]["score"] is None
    assert result["notice"].startswith("A Bedrock guardrail intervened")


@pytest.mark.parametrize("search_fails_first", [True, False])
async def test_failed_generation_is_the_only_error(
    bedrock: Bedrock, config: KBConfig, search_fails_first: bool
) -> None:
    """Asyncio reports a task whose exception nobody looked at, when it is collected, and callbacks that raise."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    first, second = threading.Event(), threading.Event()
    answered, searched = (second, first) if search_fails_first else (first, second)
    bedrock.default["RetrieveAndGenerate"] = hold(answered, refuse(400, "ValidationException", "no answer"))
    bedrock.default["Retrieve"] = hold(searched, refuse(400, "ValidationException", "no passages"))
    call = asyncio.ensure_future(KnowledgeBase(config).answer(Question(query="q")))
    for _ in range(2):
        await asyncio.to_thread(bedrock.called.acquire)
    first.set()
    if search_fails_first:
        await until(lambda: calls_in_progress() == 1)
    second.set()
    await asyncio.wait([call])
    assert "no answer" in str(call.exception())
    await until(lambda: calls_in_progress() == 0)
    del call
    gc.collect()
    assert reported == []


async def test_cancelled_question_cancels_its_search(bedrock: Bedrock, config: KBConfig) -> None:
    released = threading.Event()
    bedrock.default["RetrieveAndGenerate"] = hold(released, answer(GENERATED))
    bedrock.default["Retrieve"] = hold(released, answer(RETRIEVED))
    before = asyncio.all_tasks()
    call = asyncio.ensure_future(KnowledgeBase(config).answer(Question(query="q")))
    for _ in range(2):
        await asyncio.to_thread(bedrock.called.acquire)
    call.cancel()
    await asyncio.wait([call])
    left = asyncio.all_tasks() - before
    released.set()
    assert call.cancelled()
    await asyncio.wait_for(asyncio.gather(*left, return_exceptions=True), 5)
    assert all(task.cancelled() for task in left)


async def test_progress_is_reported_with_scores(client: Client[Any], bedrock: Bedrock) -> None:
    reports: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    result = await client.call_tool("kb_answer", {"query": "q"}, progress_handler=listen)
    assert reports[0] == (1, None, "Searching the knowledge base.")
    assert result.structured_content is not None
    assert result.structured_content["citations"][0]["score"] == 0.91
    assert sorted(bedrock.operations) == ["Retrieve", "RetrieveAndGenerateStream"]
