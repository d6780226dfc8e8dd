"""Questions for a note, suggested by a model server on loopback."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import agents_client
from tests.fakes.model_server import Refuse, say
from tests.fakes.openai_server import OpenAIServer

URL = "/api/chat/suggest-questions"
NOTE = {"title": "413", "content": "Raise client_max_body_size."}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def chat(model: OpenAIServer, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with agents_client(model.base_url, tmp_path) as client:
        yield client


@pytest.mark.req("ME-9")
async def test_the_model_suggests_questions(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    model.script.append(say("Here are some:\n1. Why is my upload refused?\n", "- 画像を送れないのはなぜ？\n\nDone."))
    answer = (await chat.post(URL, json=NOTE)).json()
    assert answer == {"questions": ["Why is my upload refused?", "画像を送れないのはなぜ？"]}
    assert "client_max_body_size" in model.turns(model.seen[0])[-1][1]
    assert "tools" not in model.seen[0]


@pytest.mark.req("ME-9")
async def test_a_model_without_questions_or_with_an_error_is_reported(
    chat: httpx2.AsyncClient, model: OpenAIServer
) -> None:
    model.script.append(say("I cannot."))
    assert (await chat.post(URL, json=NOTE)).json()["code"] == "agents.no_questions"
    model.script.append(Refuse(400))
    assert (await chat.post(URL, json=NOTE)).json()["code"] == "models.request_rejected"


@pytest.mark.req("ME-9")
async def test_without_a_model_it_says_so(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    model.__exit__()
    try:
        answer = await chat.post(URL, json=NOTE)
    finally:
        model.__enter__()
    assert (answer.status_code, answer.json()["code"]) == (409, "agents.no_model")
