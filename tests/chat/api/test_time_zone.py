"""The model is told the user's date: the page sends its time zone with a question."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx2
import pytest
from tests.fakes.chat import agents_client
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import asking

FIRST, LAST = "Pacific/Kiritimati", "Etc/GMT+12"  # 26 hours apart: it is never the same day


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def chat(model: OpenAIServer, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with agents_client(model.base_url, tmp_path) as client:
        yield client


def days(zone: str) -> set[str]:
    """Midnight may pass during the test."""
    now = datetime.now(ZoneInfo(zone))
    return {f"Today is {moment:%A, %Y-%m-%d} ({zone})." for moment in (now, now - timedelta(minutes=1))}


def dates(model: OpenAIServer) -> list[str]:
    """The last paragraph of each prompt that has a date; the one that asks for a title has none."""
    prompts = [request["messages"][0]["content"].rpartition("\n\n")[2] for request in model.seen]
    return [prompt for prompt in prompts if prompt.startswith("Today is")]


@pytest.mark.parametrize(
    ("zone", "told"), [(FIRST, FIRST), (LAST, LAST), ("Mars/Base", "UTC"), ("../../etc/passwd", "UTC")]
)
async def test_prompt_has_the_date_of_the_user(
    chat: httpx2.AsyncClient, model: OpenAIServer, zone: str, told: str
) -> None:
    chat.headers["X-Time-Zone"] = zone
    model.script.extend([say("はい"), say("日付")])
    async with asking(chat, "今日は何日？", agent_id="default-chat") as reader:
        await reader.rest()
    assert dates(model)[-1] in days(told)
    model.script.extend([say("はい"), say("日付")])
    chat.headers["X-Time-Zone"] = LAST
    async with chat.stream("POST", f"/api/chat/{reader.message_id}/regenerate") as response:
        await response.aread()
    assert dates(model)[-1] in days(LAST)
