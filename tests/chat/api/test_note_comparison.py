"""Two notes, compared by a model server on loopback."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import agents_client
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

URL = "/api/chat/compare-notes"
NOTES = {"older": {"content": "タイムアウトは30秒。"}, "newer": {"title": "Timeout", "content": "It is 60 s now."}}
OPINION = {"verdict": "contradiction", "reason": "30 秒と 60 s", "merged": "The timeout is 60 s."}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def chat(model: OpenAIServer, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with agents_client(model.base_url, tmp_path) as client:
        yield client


@pytest.mark.req("MT-3")
async def test_the_model_gives_a_verdict_and_a_draft(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    model.script.append(say(f"<think>{{}}</think>```json\n{json.dumps(OPINION, ensure_ascii=False)}\n```"))
    assert (await chat.post(URL, json=NOTES)).json() == OPINION
    asked = model.turns(model.seen[0])[-1][1]
    assert "タイムアウトは30秒。" in asked
    assert "It is 60 s now." in asked


@pytest.mark.req("MT-3")
@pytest.mark.parametrize("answer", ["They differ.", "{not json}", '{"verdict": "maybe"}', '["same"]'])
async def test_an_answer_that_is_no_comparison_is_an_error(
    chat: httpx2.AsyncClient, model: OpenAIServer, answer: str
) -> None:
    model.script.append(say(answer))
    assert (await chat.post(URL, json=NOTES)).json()["code"] == "agents.no_comparison"


@pytest.mark.req("MT-3")
async def test_without_a_model_it_says_so(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    model.__exit__()
    try:
        answer = await chat.post(URL, json=NOTES)
    finally:
        model.__enter__()
    assert (answer.status_code, answer.json()["code"]) == (409, "agents.no_model")
