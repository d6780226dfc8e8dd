"""Every request to a model is recorded once, with its user, agent, model, server and price."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import URL
from tests.fakes.agents import FakeAgent, FakeRegistry, done, text
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.model_app import ModelApp, open_model_app
from tests.fakes.model_server import Cut, Refuse, Stall, Use, say, use
from tests.fakes.sse import asking, parse
from tests.fakes.waiting import until

from chie.chat.agents.base import Approve
from chie.chat.events import MAX_TOKENS, Event, Usage
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, MessageContent
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import UsageEntry, UsageRecord, UsageSelection
from chie.chat.settings import ChatSettings

pytestmark = pytest.mark.req("AG-13")

PRICES = [
    {"models": ["qwen3-8b"], "input": 1, "cached_input": 0.5, "output": 10},
    {"models": ["claude-sonnet-5"], "input": 2, "cached_input": 0.2, "cache_write": 2.5, "output": 10},
]
CACHED = {
    "prompt_tokens": 1_000,
    "completion_tokens": 40,
    "total_tokens": 1_040,
    "prompt_tokens_details": {"cached_tokens": 900},
    "completion_tokens_details": {"reasoning_tokens": 30},
}


@asynccontextmanager
async def opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: URL | None = None
) -> AsyncIterator[tuple[ModelApp, httpx2.AsyncClient]]:
    file = folder / "own-prices.json"
    file.write_text(json.dumps({"prices": PRICES}))
    monkeypatch.setenv("CHIE_PRICES_FILE", str(file))
    monkeypatch.setenv("CHIE_TITLES", "false")
    for name, value in {"ACCESS_KEY_ID": "AKIA", "SECRET_ACCESS_KEY": "secret"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    async with (
        open_model_app(folder, ChatSettings(), url) as app,
        httpx2.AsyncClient(base_url=app.url, timeout=60) as client,
    ):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", app.bedrock.address)
        yield app, client


async def ask(client: httpx2.AsyncClient, agent: str = "chat", **fields: Any) -> tuple[str, dict[str, Any]]:
    """The session, and the data of the last event."""
    response = await client.post("/api/chat/stream", json={"message": "なぜ？", "agent_id": agent, **fields})
    assert response.status_code == 200, response.text
    return response.headers["x-chie-session"], parse(response.text)[-1].data


async def usage(client: httpx2.AsyncClient, **query: str) -> dict[str, Any]:
    response = await client.get("/api/usage", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_answer_has_its_tokens_models_and_cost(
    both: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch, both) as (app, client):
        app.openai.usages.append(CACHED)
        app.openai.script.append(say("Because."))
        session, done = await ask(client)
        counts = {"input_tokens": 1_000, "output_tokens": 40, "cached_tokens": 900, "reasoning_tokens": 30}
        cost = (100 * 1 + 900 * 0.5 + 40 * 10) / 1_000_000
        assert done["usage"] == {**counts, "models": ["qwen3-8b"], "cost": pytest.approx(cost)}
        answer = (await client.get(f"/api/sessions/{session}")).json()["messages"][1]
        assert answer["usage"] == done["usage"]
        found = await usage(client)
        assert {name: found["total"][name] for name in counts} == counts
        assert found["total"]["cost"] == pytest.approx(cost)
        assert found["total"]["unpriced_requests"] == 0
        assert [group["name"] for group in found["models"]] == ["qwen3-8b"]
        assert found["models"][0]["host"] == app.openai.base_url.removeprefix("http://").removesuffix("/v1")
        assert [group["name"] for group in found["agents"]] == ["chat"]
        assert (await client.delete(f"/api/sessions/{session}")).is_success
        assert (await usage(client))["total"] == found["total"]


async def test_tool_rounds_branches_and_failures_are_summed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        app.openai.script.extend([use(Use("echo", '{"text": "3"}')), say("3")])
        _, done = await ask(client, "tools")
        assert (done["usage"]["input_tokens"], done["usage"]["output_tokens"]) == (14, 6)
        app.openai.script.extend([use(Use("echo", '{"text": "3"}')), Refuse(500)])
        session, _ = await ask(client, "tools")
        failed = (await client.get(f"/api/sessions/{session}")).json()["messages"][1]
        assert (failed["status"], failed["input_tokens"], failed["output_tokens"]) == ("failed", 7, 3)
        app.openai.script.append(say("again"))
        again = await client.post(f"/api/chat/{failed['message_id']}/regenerate")
        assert again.status_code == 200
        app.openai.script.append(Refuse(429))
        await ask(client)
        total = (await usage(client))["total"]
        assert (total["requests"], total["input_tokens"], total["output_tokens"]) == (4, 28, 12)
        assert total["estimated_requests"] == 0


async def test_providers_count_what_was_written_to_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        app.anthropic.script.append(say("Claude here."))
        app.bedrock.script.append(say("Bedrock here."))
        for agent in ("adk", "aws"):
            _, done = await ask(client, agent)
            assert (done["usage"]["input_tokens"], done["usage"]["output_tokens"]) == (7, 3)
        found = await usage(client)
        assert {group["name"]: group["requests"] for group in found["agents"]} == {"adk": 1, "aws": 1}
        models = {(group["name"], group["host"].partition(":")[0]) for group in found["models"]}
        assert models == {
            ("claude-sonnet-5", "127.0.0.1"),
            ("global.anthropic.claude-sonnet-5", "bedrock.ap-northeast-1"),
        }
        assert found["total"]["unpriced_requests"] == 0


async def test_server_without_usage_gets_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        app.openai.usages.append(None)
        app.openai.script.append(say("a" * 300))
        _, done = await ask(client, message="b" * 3_000)
        assert app.openai.seen[-1]["stream_options"] == {"include_usage": True}
        assert done["usage"]["estimated"] is True
        assert 90 <= done["usage"]["output_tokens"] <= 110
        assert 900 <= done["usage"]["input_tokens"] <= 1_200
        assert (await usage(client))["total"]["estimated_requests"] == 1


async def test_broken_and_stopped_answers_are_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        app.openai.script.append(Cut("Half of it"))
        session, _ = await ask(client)
        cut = (await client.get(f"/api/sessions/{session}")).json()["messages"][1]
        assert (cut["status"], cut["usage"]["estimated"]) == ("failed", True)
        app.openai.script.append(Stall("Half of it"))
        async with asking(client, "止めて", agent_id="chat") as reader:
            assert (await reader.event()).event == "message"
            assert (await client.post(f"/api/chat/{reader.message_id}/stop")).is_success
            assert (await reader.rest())[-1].data["usage"]["estimated"] is True
        total = (await usage(client))["total"]
        assert (total["requests"], total["estimated_requests"]) == (2, 2)


async def test_comparisons_and_questions_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        opinion = json.dumps({"verdict": "same", "reason": "x", "merged": "y"})
        app.openai.script.extend([say(opinion), say("What is it?\n何ですか？"), say("They differ.")])
        notes = {"older": {"content": "a"}, "newer": {"content": "b"}}
        assert (await client.post("/api/chat/compare-notes", json=notes)).is_success
        assert (await client.post("/api/chat/suggest-questions", json={"content": "a"})).is_success
        assert (await client.post("/api/chat/compare-notes", json=notes)).status_code == 500
        assert (await usage(client))["total"]["requests"] == 3


async def test_title_counts(tmp_path: Path) -> None:
    async with open_model_app(tmp_path, ChatSettings()) as app, httpx2.AsyncClient(base_url=app.url) as client:
        app.openai.titles.append(say("VPN"))
        app.openai.script.append(say("Because."))
        await ask(client)

        async def counted() -> bool:
            return bool((await usage(client))["total"]["requests"] == 2)

        await until(counted)


async def test_openai_compatible_requests_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        app.openai.usages.extend([CACHED] * 3)
        app.openai.script.extend([say("one"), say("two"), say("three")])
        asked: Any = {"model": "chat", "messages": [{"role": "user", "content": "x"}]}
        whole = await app.client.chat.completions.create(**asked)
        assert whole.usage is not None
        assert whole.usage.completion_tokens_details is not None
        assert whole.usage.completion_tokens_details.reasoning_tokens == 30
        async for _ in await app.client.chat.completions.create(**asked, stream=True):
            pass
        response = await app.client.responses.create(model="chat", input="x")
        assert response.usage is not None
        assert response.usage.input_tokens_details.cached_tokens == 900
        assert response.usage.output_tokens_details.reasoning_tokens == 30
        total = (await usage(client))["total"]
        assert (total["requests"], total["input_tokens"], total["output_tokens"]) == (3, 3_000, 120)


async def test_agents_of_plug_ins_report_their_own(chat: ChatClient) -> None:
    await chat.ask("hi", agent_id="scripted")
    found = await usage(chat.client)
    assert (found["total"]["input_tokens"], found["total"]["unpriced_requests"]) == (12, 1)
    assert [group["name"] for group in found["models"]] == ["unknown"]


NO_COUNTS: list[Any] = [
    *(-5, float("nan"), float("inf"), 10**30, 2**63 - 1, 7.5, "7", [7], {}, True, None),
]


@pytest.mark.parametrize("count", NO_COUNTS, ids=repr)
async def test_answer_is_kept_whatever_its_server_counts(
    tmp_path: Path, both: URL, monkeypatch: pytest.MonkeyPatch, count: Any
) -> None:
    async with opened(tmp_path, monkeypatch, both) as (app, client):
        names = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details")
        app.openai.usages.extend([dict.fromkeys(names, count)] * 3)
        app.openai.script.extend([say("one"), say("two"), say("three")])
        for said in ("one", "two"):
            session, _ = await ask(client)
            answer = (await client.get(f"/api/sessions/{session}")).json()["messages"][1]
            assert (answer["status"], answer["content"]) == ("complete", said)
        asked: Any = {"model": "chat", "messages": [{"role": "user", "content": "x"}]}
        assert (await app.client.chat.completions.create(**asked)).choices[0].message.content == "three"
        total = (await usage(client))["total"]
        assert total["requests"] == 3
        assert 0 <= total["input_tokens"] <= 3 * MAX_TOKENS


class Boastful(FakeAgent):
    id = "boastful"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("ok")
        yield done(Usage(input_tokens=10**30, output_tokens=-1))


async def test_answer_is_kept_whatever_a_plug_in_counts(both: URL) -> None:
    async with open_chat(both, FakeRegistry(Boastful())) as chat:
        for _ in range(2):
            session, _ = await chat.ask("hi", agent_id="boastful")
            assert (await chat.messages(session))[1]["status"] == "complete"
        assert (await usage(chat.client))["total"]["input_tokens"] == 2 * MAX_TOKENS


NOVEMBER = UsageSelection(first="2026-11-01", last="2026-11-31")


def entry(**fields: Any) -> UsageEntry:
    known = {"day": "2026-11-16", "user_id": "ada", "agent_id": "a", "model": "m", "host": "h", "price": "1/1/1/1"}
    return UsageEntry(**{**known, "input_tokens": 5, "output_tokens": 2, "cost": 7_000, **fields})


async def test_record_counts_once_however_often_it_is_written(both: URL) -> None:
    upgrade(both)
    one, other = Database(both), Database(both)
    stores = UsageStore(one), UsageStore(other)
    record = UsageRecord(entries=[entry(), entry(), entry(price="unknown", cost=None)])
    for store in (*stores, *stores):
        await store.record(record)
    await stores[1].record(UsageRecord(entries=[entry()]))
    found = await stores[0].entries(NOVEMBER)
    assert [(row.price, row.requests, row.input_tokens, row.cost) for row in found] == [
        ("1/1/1/1", 3, 15, 21_000),
        ("unknown", 1, 5, None),
    ]
    await stores[0].forget_old_records()
    await stores[0].record(record)
    assert len(await stores[0].entries(NOVEMBER)) == 2
    assert await stores[1].totals(first="2026-11-01", last="2026-11-31", user_id="bob") == (0, 0)
    await one.close()
    await other.close()


async def test_usage_of_an_answer_that_is_gone_is_kept(both: URL) -> None:
    """Its conversation was deleted, or another process has ended it; a repeated save counts once."""
    upgrade(both)
    database = Database(both)
    answers, store = AnswerStore(database, "me"), UsageStore(database)
    record = UsageRecord(entries=[entry()])
    rest = EventChunk(message_id="gone", first=1, items=["x"])
    for replace in (False, True):
        final = MessageContent(status="complete", content="x")
        assert not await answers.finish(final, rest, record, replace_events=replace)
    assert await store.totals(first="2026-11-01", last="2026-11-31") == (7, 7_000)
    await database.close()
