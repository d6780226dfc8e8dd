"""Model endpoints that an admin adds in the page: used at once, changed with the key kept, tested before saving."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL
from tests.chat.endpoints.app import MEMBER, App, files_below, opened
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.bedrock_models import PROFILES, BedrockModels
from tests.fakes.chat import both, postgres
from tests.fakes.model_server import ModelServer, Refuse, say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.module import ChatModule
from chie.chat.sessions.secret_box import KEY_FILE

__all__ = ["both", "postgres"]

pytestmark = pytest.mark.req("AG-5")

KEY = "sk-zanzibar-0123456789"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials, and no model server on this machine."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
def peer() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


async def add(app: App, **fields: object) -> dict[str, Any]:
    entry: dict[str, Any] = await app.json("POST", "/api/endpoints", {"kind": "openai", "name": "Work", **fields})
    return entry


async def tried(app: App, **fields: object) -> dict[str, Any]:
    result: dict[str, Any] = await app.json("POST", "/api/endpoints/test", fields)
    return result


def text_of(events: Any) -> str:
    return "".join(event.data["content"] for event in events if event.event == "message")


async def test_endpoint_makes_the_agents_available_without_a_restart(peer: OpenAIServer) -> None:
    async with opened() as app:
        agents = await app.json("GET", "/api/agents")
        assert not any(agent["available"] for agent in agents["agents"])
        entry = await add(app, url=peer.base_url, api_key=KEY)
        agents = await app.json("GET", "/api/agents")
        assert (agents["default_id"], agents["preselected_id"]) == ("default-chat", "assistant")
        assert agents["agents"][0]["model"] == "qwen3-8b"
        listed = (await app.json("GET", "/api/models"))["endpoints"]
        assert [(one["id"], one["name"]) for one in listed] == [(entry["id"], "Work")]
        peer.script.append(say("こんにちは"))
        events = await app.ask("やあ", agent_id="default-chat")
        assert text_of(events) == "こんにちは"
        assert peer.headers[-1]["authorization"] == f"Bearer {KEY}"
        assert (await app.send("DELETE", f"/api/endpoints/{entry['id']}")).status_code == 204
        assert not (await app.json("GET", "/api/agents"))["agents"][0]["available"]


async def test_default_model_of_the_endpoint_is_used(peer: OpenAIServer) -> None:
    async with opened() as app:
        await add(app, url=peer.base_url, model="other")
        assert (await app.json("GET", "/api/agents"))["agents"][0]["model"] == "other"


async def test_endpoint_that_fails_gives_way_to_the_next(peer: OpenAIServer) -> None:
    async with opened() as app:
        await add(app, name="Down", url="http://127.0.0.1:9/v1")
        agent = (await app.json("GET", "/api/agents"))["agents"][0]
        assert agent["reason_code"] == "models.local_server_unreachable"
        assert "“Down” in Settings" in agent["reason"]
        await add(app, url=peer.base_url)
        assert (await app.json("GET", "/api/agents"))["agents"][0]["model"] == "qwen3-8b"


async def test_environment_wins_and_is_listed_without_its_values(
    peer: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", peer.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("AWS_PROFILE", "secret-profile")
    async with opened() as app:
        await add(app, url="http://127.0.0.1:9/v1")
        first, second, third, own = await app.endpoints()
        assert (first["id"], first["variables"]) == ("own", ["OPENAI_BASE_URL", "OPENAI_API_KEY"])
        assert (second["id"], second["variables"]) == ("anthropic", ["ANTHROPIC_API_KEY"])
        assert (third["id"], third["variables"]) == ("bedrock", ["AWS_PROFILE"])
        assert {one["source"] for one in (first, second, third)} == {"environment"}
        assert own["source"] == "page"
        assert KEY not in json.dumps([first, second, third])
        assert (await app.json("GET", "/api/agents"))["agents"][0]["model"] == "qwen3-8b", "that of the environment"
        for method in ("PATCH", "DELETE"):
            refused = await app.send(method, "/api/endpoints/own", {"name": "x"})
            assert refused.status_code == 404, "it is changed where it is set"


async def test_key_is_kept_replaced_and_removed_but_never_returned(home: Path, peer: OpenAIServer) -> None:
    async with opened() as app:
        entry = await add(app, url=peer.base_url, api_key=KEY)
        path = f"/api/endpoints/{entry['id']}"
        assert (entry["key"], entry["key_kind"]) == ("set", "api_key")
        renamed = await app.json("PATCH", path, {"name": "仕事"})
        assert (renamed["name"], renamed["key"]) == ("仕事", "set")
        assert renamed["key_changed_at"] == entry["key_changed_at"]
        peer.script.append(say("ok"))
        assert (await tried(app, id=entry["id"]))["ok"]
        assert peer.headers[-1]["authorization"] == f"Bearer {KEY}"
        replaced = await app.json("PATCH", path, {"api_key": "sk-another-key"})
        assert replaced["key_changed_at"] > entry["key_changed_at"]
        removed = await app.json("PATCH", path, {"api_key": None})
        assert (removed["key"], removed["key_changed_at"]) == ("none", None)
        await app.json("PATCH", path, {"api_key": KEY})
    assert not [file for file, content in files_below(home).items() if KEY.encode() in content]


async def test_stored_key_is_not_sent_to_another_host(peer: OpenAIServer) -> None:
    async with opened() as app:
        entry = await add(app, url="http://127.0.0.1:9/v1", api_key=KEY)
        moved = {"url": peer.base_url}
        for other in ({}, {"session_token": "x"}, {"access_key_id": "x", "secret_access_key": "y"}):
            refused = await app.send("PATCH", f"/api/endpoints/{entry['id']}", {**moved, **other})
            assert (refused.status_code, refused.json()["code"]) == (400, "endpoints.key_needed_again")
            refused = await app.send("POST", "/api/endpoints/test", {"id": entry["id"], **moved, **other})
            assert refused.json()["code"] == "endpoints.key_needed_again"
        assert not peer.headers, "nothing was sent there"
        await app.json("PATCH", f"/api/endpoints/{entry['id']}", {"url": "http://127.0.0.1:9/v2"})
        await app.json("PATCH", f"/api/endpoints/{entry['id']}", {**moved, "api_key": "sk-for-the-new-host"})


async def test_key_of_another_machine_must_be_entered_again(home: Path, peer: OpenAIServer) -> None:
    async with opened() as app:
        await add(app, url=peer.base_url, api_key=KEY)
    (home / KEY_FILE).unlink()
    async with opened() as app:
        (entry,) = await app.endpoints()
        assert entry["key"] == "unreadable"
        agent = (await app.json("GET", "/api/agents"))["agents"][0]
        assert agent["reason_code"] == "endpoints.key_unreadable"
        assert (await app.json("GET", "/api/models"))["endpoints"][0]["error_code"] == "endpoints.key_unreadable"
        assert (await tried(app, id=entry["id"]))["reason_code"] == "endpoints.key_unreadable"
        await app.json("PATCH", f"/api/endpoints/{entry['id']}", {"api_key": KEY})
        assert (await app.json("GET", "/api/agents"))["agents"][0]["available"]


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_trial_tells_in_words_what_is_wrong(kind: str, peer: OpenAIServer) -> None:
    async with opened() as app:
        fields = {"kind": kind, "url": peer.base_url, "api_key": KEY}
        peer.script.append(say("ok"))
        works = await tried(app, **fields)
        assert (works["ok"], works["models"]) == (True, ["qwen3-8b", "other"])
        peer.script.append(Refuse(401, f"Incorrect API key provided: {KEY}"))
        wrong = await tried(app, **fields)
        assert (wrong["ok"], wrong["reason_code"]) == (False, "models.key_rejected"), (
            "the list is public, a call is not"
        )
        peer.script.append(Refuse(429, "You exceeded your current quota, please check your plan and billing details"))
        assert (await tried(app, **fields))["reason_code"] == "models.quota_exceeded"
        peer.script.append(Refuse(400, "max_completion_tokens is not supported"))
        assert (await tried(app, **fields))["ok"], "this is about the call and not about the endpoint"
        down = await tried(app, **{**fields, "url": "http://127.0.0.1:9/v1"})
        assert down["reason_code"] == "models.local_server_unreachable"
        with BedrockModels() as other:
            incompatible = await tried(app, **{**fields, "url": other.url})
        assert incompatible["reason_code"] == "models.not_openai_compatible"
        peer.models = ("text-embedding-nomic",)
        assert (await tried(app, **fields))["reason_code"] == "endpoints.no_models"
        assert await app.endpoints() == [], "nothing was stored"


async def test_anthropic_endpoint_answers_with_its_own_sdk() -> None:
    with AnthropicServer() as peer:
        async with opened() as app:
            fields = {"kind": "anthropic", "url": peer.address, "api_key": KEY}
            peer.script.append(say("ok"))
            works = await tried(app, **fields)
            assert works["ok"], works
            peer.script.append(Refuse(401, "invalid x-api-key"))
            assert (await tried(app, **fields))["reason_code"] == "models.key_rejected"
            await add(app, **fields)
            peer.script.append(say("Bonjour"))
            assert text_of(await app.ask("Salut", agent_id="default-chat")) == "Bonjour"
            assert KEY in peer.headers[-1]["authorization"]


async def test_bedrock_endpoint_uses_the_stored_access_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"access_key_id": "AKIAZANZIBAR0123", "secret_access_key": KEY, "session_token": "temporary-zanzibar"}
    with ConverseServer() as peer, BedrockModels() as lists:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", peer.address)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", lists.url)
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "of-the-environment")
        async with opened() as app:
            works = await tried(app, kind="bedrock", region="ap-northeast-1", **keys)
            assert (works["ok"], works["models"][0]) == (True, PROFILES[0])
            assert "Credential=AKIAZANZIBAR0123/" in str(lists.authorization)
            entry = await add(app, kind="bedrock", region="ap-northeast-1", **keys)
            assert (entry["key"], entry["key_kind"], entry["region"]) == ("set", "keys", "ap-northeast-1")
            peer.script.append(say("やあ"))
            assert text_of(await app.ask("こんにちは", agent_id="default-chat")) == "やあ"
            assert "Credential=AKIAZANZIBAR0123/" in peer.headers[-1]["authorization"]
            for status, named in ((401, "credentials"), (404, "region")):
                peer.script.append(Refuse(status))
                [told] = [one.data for one in await app.ask("?", agent_id="default-chat") if one.event == "error"]
                assert f"endpoints.field_{named}" in str(told["params"])
                assert "AWS_" not in told["error"]
            lists.denied = True
            denied = await tried(app, kind="bedrock", region="us-east-1", **keys)
            assert denied["reason_code"] == "models.bedrock_list_denied"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": " "}, "name_invalid"),
        ({"name": "a\nb"}, "name_invalid"),
        ({"url": "gopher://x"}, "url_invalid"),
        ({"url": "https://user:pass@example.com/v1"}, "url_with_secret"),
        ({"url": "https://example.com/v1?key=x"}, "url_with_secret"),
        ({"url": "http://169.254.169.254/v1"}, "url_forbidden"),
        ({"url": "http://2852039166/v1"}, "url_forbidden"),
        ({"url": "http://0xa9fea9fe/v1"}, "url_forbidden"),
        ({"url": "http://169.254.43518./v1"}, "url_forbidden"),
        ({"url": "http://[fd00:ec2::254]/v1"}, "url_forbidden"),
        ({"url": "http://[2002:a9fe:a9fe::1]/v1"}, "url_forbidden"),
        ({"url": "http://100.100.100.200/v1"}, "url_forbidden"),
        ({"api_key": "全角のキー"}, "key_invalid"),
        ({"api_key": "two\nlines"}, "key_invalid"),
        ({"kind": "anthropic"}, "key_missing"),
        ({"kind": "gemini"}, "key_missing"),
        ({"kind": "bedrock", "region": "東京"}, "region_invalid"),
        ({"kind": "bedrock", "access_key_id": "AKIA"}, "both_keys_needed"),
        ({"kind": "bedrock", "profile": "p", "api_key": "k"}, "profile_or_keys"),
    ],
)
async def test_what_cannot_be_used_is_refused(fields: dict[str, object], code: str) -> None:
    async with opened() as app:
        refused = await app.send("POST", "/api/endpoints", {"kind": "openai", "name": "Work", **fields})
        assert (refused.status_code, refused.json()["code"]) == (400, f"endpoints.{code}")
        assert await app.endpoints() == []


async def test_only_admins_change_endpoints_and_see_where_they_are(peer: ModelServer) -> None:
    async with opened() as app:
        entry = await add(app, url=f"{peer.address}/v1", api_key=KEY)
        (seen,) = await app.endpoints(MEMBER)
        assert {name for name, value in seen.items() if value} == {"id", "name", "kind", "source"}
        body = {"kind": "openai", "name": "Mine"}
        requests: list[tuple[str, str, object]] = [
            ("POST", "/api/endpoints", body),
            ("POST", "/api/endpoints/test", body),
            ("PATCH", f"/api/endpoints/{entry['id']}", {"name": "Mine"}),
            ("DELETE", f"/api/endpoints/{entry['id']}", None),
        ]
        for method, path, sent in requests:
            refused = await app.send(method, path, sent, user=MEMBER)
            assert (refused.status_code, refused.json()["code"]) == (403, "endpoints.admin_needed")
        assert (await app.endpoints())[0]["name"] == "Work"


async def test_processes_that_share_a_database_see_the_same(both: URL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.endpoints.service.CACHE_SECONDS", 0.0)
    async with opened(ChatModule(both)) as one, opened(ChatModule(both)) as other:
        entry = await add(one, url="http://127.0.0.1:9/v1", api_key=KEY)
        assert [endpoint["key"] for endpoint in await other.endpoints()] == ["set"]
        taken = await other.send("POST", "/api/endpoints", {"kind": "openai", "name": "WORK"})
        assert (taken.status_code, taken.json()["code"]) == (409, "endpoints.name_taken")
        await other.json("PATCH", f"/api/endpoints/{entry['id']}", {"name": "仕事"})
        assert [endpoint["name"] for endpoint in await one.endpoints()] == ["仕事"]
        await one.json("DELETE", f"/api/endpoints/{entry['id']}")
        gone = await other.send("PATCH", f"/api/endpoints/{entry['id']}", {"name": "x"})
        assert (gone.status_code, gone.json()["code"]) == (404, "endpoints.not_found")
