"""Monthly limits: checked before anything is asked, with a message that says when they renew."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from sqlalchemy import URL
from tests.chat.usage.test_recording import ask, entry, opened, usage
from tests.fakes.model_server import say

from chie.access.identity import User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import Limit, UsageRecord
from chie.chat.usage.limits import UsageLimits
from chie.chat.usage.months import Month
from chie.errors import LimitError
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("AG-13")

NOW = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)


async def put(client: httpx2.AsyncClient, **limit: Any) -> None:
    response = await client.put("/api/usage/limits", json=limit)
    assert response.status_code == 204, response.text


async def month(client: httpx2.AsyncClient) -> Any:
    return (await client.get("/api/usage/month")).json()


async def test_limit_warns_then_stops_and_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        assert (await month(client))["limits"] == []
        await put(client, scope="everyone", tokens=20)
        app.openai.script.extend([say("1"), say("2"), say("3")])
        session, _ = await ask(client)
        assert [limit["state"] for limit in (await month(client))["limits"]] == ["ok"]
        app.openai.usages.append({"prompt_tokens": 4, "completion_tokens": 3})
        await ask(client)
        [warned] = (await month(client))["limits"]
        assert (warned["state"], warned["share"], warned["used"], warned["limit"]) == ("warning", 0.85, 17, 20)
        await ask(client)  # what is left is enough to start
        refused = await client.post("/api/chat/stream", json={"message": "x", "session_id": session})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        body = refused.json()
        assert body["code"] == "usage.user_limit_reached"
        renews = (await month(client))["renews_at"][:10]
        assert body["params"] == {
            "limit": {"code": "usage.tokens", "params": {"tokens": 20}, "text": "20 tokens"},
            "date": renews,
        }
        assert "an admin can raise it" in body["detail"]
        assert "20 トークン" in Message(body["code"], limit=Message("usage.tokens", tokens=20), date=renews).text("ja")
        messages = (await client.get(f"/api/sessions/{session}")).json()["messages"]
        assert len(messages) == 2  # the refused question is not stored
        for path in ("regenerate", "edit"):
            body = {"message": "y"} if path == "edit" else {}
            target = messages[0 if path == "edit" else 1]["message_id"]
            assert (await client.post(f"/api/chat/{target}/{path}", json=body)).status_code == 429
        notes = {"older": {"content": "a"}, "newer": {"content": "b"}}
        assert (await client.post("/api/chat/compare-notes", json=notes)).status_code == 429
        assert (await client.post("/api/chat/suggest-questions", json={"content": "a"})).status_code == 429
        requests = len(app.openai.seen)
        await put(client, scope="user", user_id="anonymous", tokens=1_000)
        app.openai.script.append(say("4"))
        await ask(client)
        assert len(app.openai.seen) == requests + 1


async def test_openai_clients_are_told_insufficient_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (app, client):
        await put(client, scope="team", cost=0)
        eager = app.client.with_options(max_retries=2)
        for ask_model in (
            lambda: eager.chat.completions.create(model="chat", messages=[{"role": "user", "content": "x"}]),
            lambda: eager.responses.create(model="chat", input="x"),
        ):
            with pytest.raises(openai.RateLimitError) as raised:
                await ask_model()
            assert raised.value.code == "insufficient_quota"
            assert "The team has used up its limit of US$0.00" in raised.value.message
            assert int(raised.value.response.headers["retry-after"]) > 0
        assert app.openai.seen == []


async def test_agent_without_a_model_is_not_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, monkeypatch) as (_, client):
        await put(client, scope="everyone", tokens=0)
        await ask(client, "notes")
        assert (await usage(client))["total"]["requests"] == 0


async def test_settings_are_the_default_and_an_admin_may_lift_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_MONTHLY_COST", "0.5")
    monkeypatch.setenv("CHIE_TEAM_MONTHLY_TOKENS", "1000")
    async with opened(tmp_path, monkeypatch) as (_, client):
        found = {(limit["scope"], limit["kind"]): limit["limit"] for limit in (await month(client))["limits"]}
        assert found == {("user", "cost"): 0.5, ("team", "tokens"): 1_000}
        listed = (await client.get("/api/usage/limits")).json()
        assert listed["defaults"] == {
            "user": {"tokens": None, "cost": 0.5},
            "team": {"tokens": 1_000, "cost": None},
        }
        await put(client, scope="everyone")
        await put(client, scope="team", tokens=5, cost=2)
        assert {limit["scope"] for limit in (await month(client))["limits"]} == {"team"}
        [everyone, team] = (await client.get("/api/usage/limits")).json()["limits"]
        assert (everyone["scope"], everyone["tokens"], everyone["cost"]) == ("everyone", None, None)
        assert (team["tokens"], team["cost"], team["updated_by"]) == (5, 2, "anonymous")
        assert (await client.delete("/api/usage/limits", params={"scope": "team"})).status_code == 204
        assert (await client.delete("/api/usage/limits", params={"scope": "team"})).status_code == 404
        wrong = await client.put("/api/usage/limits", json={"scope": "team", "user_id": "ada"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "usage.user_of_limit")


@pytest.fixture
async def store(both: URL) -> AsyncIterator[UsageStore]:
    upgrade(both)
    database = Database(both)
    yield UsageStore(database)
    await database.close()


async def test_months_are_those_of_utc(store: UsageStore) -> None:
    for day in ("2026-10-31", "2026-11-01", "2026-11-30", "2026-12-01"):
        await store.record(UsageRecord(entries=[entry(day=day)]))
    await store.record(UsageRecord(entries=[entry(day="2026-11-30", user_id="bob")]))
    limits = UsageLimits(store, user=Limit(tokens=14), team=Limit(cost=100_000), clock=lambda: NOW)
    with acting_as(User("ada")):
        own, team = await limits.states()
        assert (own.scope, own.used, own.state) == ("user", 14, "reached")
        assert (team.scope, team.used, team.state) == ("team", 21_000, "ok")
        with pytest.raises(LimitError) as raised:
            await limits.require(object())  # type: ignore[arg-type]
    assert raised.value.seconds == 60
    assert raised.value.reason.params["date"] == "2026-12-01"
    with acting_as(User("bob")):
        await limits.require(object())  # type: ignore[arg-type]


def test_month_after_december() -> None:
    december = Month.of(datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    assert (str(december), december.renewal) == ("2026-12", datetime(2027, 1, 1, tzinfo=UTC))
