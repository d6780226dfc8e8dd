"""All agents together, as the house opens them."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.contract.agent import ask, text_of
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.agents import factory as factory_module
from chie.chat.agents.base import AgentInfo
from chie.chat.agents.builtin import open_agents
from chie.chat.agents.factory import AgentFactory
from chie.chat.models import endpoint
from chie.chat.models.base import ModelError
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError, NotFoundError
from chie.mcp_kit.server import Server
from chie.settings import load

ROOT = Path(__file__).parents[3]
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials, no fetch server, no model."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("OPENAI_BASE_URL", NOBODY)


def write(home: Path, name: str, content: object) -> None:
    home.mkdir(exist_ok=True)
    (home / name).write_text(json.dumps(content), encoding="utf-8")


@asynccontextmanager
async def house(rooms: Mapping[str, Server | ConfigurationError] | None = None) -> AsyncIterator[AgentFactory]:
    if rooms is None:
        rooms = {"knowledge": create_workbench(Witness(), "knowledge"), "n8n": ConfigurationError("Set N8N_URL.")}
    async with open_agents(load(ChatSettings), rooms) as factory:
        yield factory


async def infos(factory: AgentFactory) -> dict[str, AgentInfo]:
    return {info.id: info for info in await factory.list_agents()}


@pytest.mark.req("CH-6")
async def test_the_agents_out_of_the_box() -> None:
    async with house() as factory:
        assert list(await infos(factory)) == ["default-chat", "web-scraper", "assistant", "aws", "adk", "notes"]
        assert factory.get_agent("web-scraper").supports_mcp()


@pytest.mark.req("CH-6")
async def test_an_unknown_agent_is_not_found_and_a_second_of_one_id_is_refused() -> None:
    async with house() as factory:
        with pytest.raises(NotFoundError, match=r"There is no such agent. There are: default-chat, web-scraper"):
            factory.get_agent("nobody")
        with pytest.raises(ConfigurationError, match="two agents with the id notes"):
            factory.register_agent(factory.get_agent("notes"))


@pytest.mark.req("CH-14")
async def test_the_choice_of_an_agent_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "chie.chat")
    async with house() as factory:
        factory.get_agent("notes")
    assert ("chie.chat.agents.factory", logging.INFO, "agent notes is chosen") in caplog.record_tuples


async def test_on_a_bare_machine_the_notes_answer_and_the_others_say_what_to_set() -> None:
    async with house() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
    available = {name for name, info in found.items() if info.available}
    assert available == {"notes"}
    reasons = {name: info.reason or "" for name, info in found.items()}
    assert f"No model server answers at {NOBODY} (ConnectError). Start it" in reasons["default-chat"]
    assert "set OPENAI_BASE_URL" in reasons["default-chat"]
    assert "AWS_PROFILE" in reasons["aws"]
    assert "ANTHROPIC_API_KEY" in reasons["adk"]


async def test_lm_studio_is_looked_for_where_it_usually_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert ChatSettings().model_address == "http://127.0.0.1:1234/v1"
    assert ChatSettings(openai_base_url="http://box:8000/v1/").model_address == "http://box:8000/v1"


@pytest.mark.req("CH-2")
async def test_asking_without_a_model_says_which_address_was_tried() -> None:
    async with house() as factory:
        with pytest.raises(ModelError, match=f"No model server answers at {NOBODY}.*Start it.*set OPENAI_BASE_URL"):
            await ask(factory.get_agent("default-chat"))


async def test_a_model_that_was_named_is_asked_for_and_an_address_that_died_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHIE_MODEL", "my-model")
    async with house() as factory:
        with pytest.raises(ModelError, match=f"No model server answers at {NOBODY}"):
            await ask(factory.get_agent("default-chat"))


async def test_with_a_model_the_first_agent_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(say("hi")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("CHIE_MODEL", "my-model")
        async with house() as factory:
            assert await factory.default_id() == "default-chat"
            found = await infos(factory)
            assert (found["default-chat"].model, found["assistant"].available) == ("my-model", True)
            await ask(factory.get_agent("default-chat"))
    assert server.seen[0]["model"] == "my-model"


async def test_nobody_waits_to_hear_that_the_default_is_still_there_and_its_end_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(factory_module, "LOOK_SECONDS", 0.0)
    with ExitStack() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.enter_context(OpenAIServer()).base_url)
        async with house() as factory:
            assert await factory.default_id() == "default-chat"
            running.close()
            assert await factory.default_id() == "default-chat"  # as it was seen last; now it is looked at
            await next(task for task in asyncio.all_tasks() if task.get_name() == "default-agent")
            assert await factory.default_id() == "notes"


async def test_an_agent_that_a_list_shows_as_away_is_not_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FRESH_SECONDS", 0.0)
    with ExitStack() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.enter_context(OpenAIServer()).base_url)
        async with house() as factory:
            assert await factory.default_id() == "default-chat"
            running.close()
            assert not (await infos(factory))["default-chat"].available
            assert await factory.default_id() == "notes"


async def test_a_server_without_a_chat_model_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(models=("nomic-embed-text",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with house() as factory:
            reason = (await infos(factory))["default-chat"].reason
    assert reason == f"The model server at {server.base_url} has no chat model. Load one there, or set CHIE_MODEL."


async def test_the_assistant_uses_the_rooms_and_tells_the_model_which_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer(use(Use("echo", '{"text": "x"}')), say("ok")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with house() as factory:
            events = await ask(factory.get_agent("assistant"))
    assert [event["content"] for event in events if event["type"] == "tool_result"] == ["echo: x"]
    assert "not available now: n8n" in server.seen[0]["messages"][0]["content"]


async def test_the_web_scraper_says_how_to_get_its_server(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with house() as factory:
            reason = (await infos(factory))["web-scraper"].reason
        assert reason is not None
        assert "needs the tool server fetch. Install it with pip install mcp-server-fetch" in reason
        write(home, "servers.json", {"fetch": {"command": "no-such-program"}})
        async with house() as factory:
            assert (await infos(factory))["web-scraper"].available
            await factory.toolbox.initialize_servers(["fetch"])
            reason = (await infos(factory))["web-scraper"].reason
        assert reason is not None
        assert "The program no-such-program was not found" in reason


@pytest.mark.req("CH-3", "CH-7", "CH-8")
async def test_the_web_scraper_reads_through_a_real_process(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The fetch server of the registry may not read loopback pages, so another server stands in its place."""
    entry = {"command": sys.executable, "args": ["-m", "mcp_server_time"]}
    write(home, "servers.json", {"mcpServers": {"fetch": entry}})
    call = Use("get_current_time", '{"timezone": "Asia/Tokyo"}')
    with OpenAIServer(use(call), say("今は東京の時間です。")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with house() as factory:
            events = await ask(factory.get_agent("web-scraper"), "東京は何時?")
            states = {state["name"]: state["state"] for state in factory.server_states()}
    assert text_of(events) == "今は東京の時間です。"
    assert "Asia/Tokyo" in server.results(server.seen[1])[0][1]
    assert states == {"knowledge": "idle", "fetch": "connected", "n8n": "not_configured"}


async def test_a_tool_server_that_dies_under_a_call_does_not_take_the_answer_down(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    entry = {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "legacy"], "cwd": str(ROOT)}
    write(home, "servers.json", {"peer": entry})
    write(home, "agents.json", [{"id": "brave", "kind": "openai", "servers": ["peer"]}])
    script = (use(Use("die", id="c1")), use(Use("whoami", id="c2")), say("It came back."))
    with OpenAIServer(*script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with house() as factory:
            events = await ask(factory.get_agent("brave"))
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [True, False]
    assert text_of(events) == "It came back."


async def test_agents_of_the_file_join_and_may_take_a_built_in_ones_place(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-operator")
    with OpenAIServer(say("x")) as server:
        mine = {"id": "mine", "kind": "openai", "base_url": server.base_url, "tools": ["echo"], "name": "私の"}
        other = {"id": "assistant", "kind": "default", "name": "Plain"}
        write(home, "agents.json", {"agents": [mine, other]})
        async with house() as factory:
            found = await infos(factory)
            await ask(factory.get_agent("mine"))
    assert list(found) == ["default-chat", "web-scraper", "assistant", "aws", "adk", "mine", "notes"]
    assert (found["assistant"].name, found["assistant"].supports_mcp) == ("Plain", False)
    assert (found["mine"].name, found["mine"].model) == ("私の", "qwen3-8b")
    assert server.tools(server.seen[0]) == ["echo"]
    assert "sk-operator" not in str(server.headers), "the common key must not go to another address"


async def test_an_agent_of_the_file_is_sent_back_to_the_file(home: Path) -> None:
    write(home, "agents.json", [{"id": "mine", "kind": "default", "base_url": "http://127.0.0.1:9/x"}])
    async with house() as factory:
        reason = (await infos(factory))["mine"].reason
    assert reason is not None
    assert "No model server answers at http://127.0.0.1:9/x" in reason
    assert "set `base_url` in agents.json" in reason


@pytest.mark.parametrize(
    ("address", "key", "hint"),
    [
        ("http://127.0.0.1:99999/v1", "sk-1", "Correct `base_url` in agents.json."),
        ("http://127.0.0.1:-1/v1", "sk-1", "Correct `base_url` in agents.json."),
        ("http://[::1/v1", "sk-1", "Correct `base_url` in agents.json."),
        ("gpu-box:8000/v1", "sk-1", "Correct `base_url` in agents.json."),
        ("http://127.0.0.1:9/v1\n", "sk-1", "Correct `base_url` in agents.json."),
        (None, "ｓｋ-abc", "`api_key` in agents.json holds what no key can"),
        (None, "sk-abc\n", "`api_key` in agents.json holds what no key can"),
    ],
    ids=["port", "negative port", "bracket", "no scheme", "line break", "full-width key", "key with a line break"],
)
async def test_an_agent_whose_address_or_key_cannot_be_says_so_and_harms_nobody(
    home: Path, monkeypatch: pytest.MonkeyPatch, address: str | None, key: str, hint: str
) -> None:
    monkeypatch.setenv("CHIE_MODEL", "m")
    entry = {"id": "default-chat", "kind": "default", "api_key": key} | ({"base_url": address} if address else {})
    write(home, "agents.json", [entry])
    async with house() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
        with pytest.raises(ConfigurationError) as caught:
            await ask(factory.get_agent("default-chat"))
    reason = found["default-chat"].reason or ""
    assert (found["default-chat"].available, found["notes"].available) == (False, True)
    assert hint in reason
    assert reason == caught.value.message
    assert key.strip() not in reason


async def test_a_common_key_that_cannot_be_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ｓｋ-abc")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "ｓｋ-ant")
    async with house() as factory:
        found = await infos(factory)
    reasons = {name: info.reason or "" for name, info in found.items()}
    assert reasons["default-chat"].startswith("OPENAI_API_KEY holds what no key can")
    assert reasons["adk"].startswith("ANTHROPIC_API_KEY holds what no key can")


async def test_an_agent_may_be_of_a_plug_ins_kind(home: Path) -> None:
    write(home, "agents.json", [{"id": "claude-2", "kind": "adk", "model": "claude-haiku-5-5"}])
    async with house() as factory:
        assert (await infos(factory))["claude-2"].model == "claude-haiku-5-5"


@pytest.mark.req("CH-5")
async def test_any_package_can_bring_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index"]
    package = ROOT / "tests" / "fakes" / "chie-agent-parrot"
    options = ["--no-deps", "--no-build-isolation", "--target", str(tmp_path / "site")]
    subprocess.run([*install, *options, str(package)], check=True)  # noqa: ASYNC221  nothing else is to happen
    monkeypatch.syspath_prepend(tmp_path / "site")
    async with house() as factory:
        assert list(await infos(factory))[-2:] == ["parrot", "notes"]
        assert text_of(await ask(factory.get_agent("parrot"), "オウム")) == "オウム"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('sk-secret')", "The plug-in sick:create failed to load (RuntimeError)"),
        (
            "from chie.errors import ConfigurationError\ndef create(*_): raise ConfigurationError('Set SICK_KEY.')",
            "Set SICK_KEY.",
        ),
    ],
    ids=["broken", "not configured"],
)
async def test_a_plug_in_that_fails_is_shown_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, reason: str
) -> None:
    install_sick(tmp_path / "site", monkeypatch, source)
    async with house() as factory:
        sick = (await infos(factory))["sick"]
        with pytest.raises(ConfigurationError):
            await ask(factory.get_agent("sick"))
    assert sick.available is False
    assert reason in (sick.reason or "")
    assert "sk-secret" not in (sick.reason or "")


async def test_a_plug_in_that_cannot_say_how_it_does_is_logged_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = """
from types import SimpleNamespace
async def info(): raise RuntimeError("sk-secret")
async def close(): ...
def create(profile, _): return SimpleNamespace(agent_id=profile.id, get_agent_info=info, close=close)
"""
    install_sick(tmp_path / "site", monkeypatch, source)
    async with house() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
    assert (found["sick"].available, found["notes"].available) == (False, True)
    assert "The agent sick failed when it was asked how it does (RuntimeError)." in (found["sick"].reason or "")
    assert "sk-secret" not in (found["sick"].reason or "")
    assert ("chie.chat.agents.factory", logging.ERROR, "agent sick could not say how it does") in caplog.record_tuples


def install_sick(site: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    info = site / "sick-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sick\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[chie.agents]\nsick = sick:create\n", encoding="utf-8")
    (site / "sick.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "sick", raising=False)


def test_no_sdk_is_imported_before_its_agent_is_used() -> None:
    script = """
import asyncio, sys
from chie.chat.agents.builtin import open_agents
from chie.chat.settings import ChatSettings

async def main():
    async with open_agents(ChatSettings(openai_base_url="http://127.0.0.1:9/v1"), {}) as factory:
        await factory.list_agents()

asyncio.run(main())
print(sorted({"openai", "anthropic", "boto3", "botocore", "numpy", "sqlalchemy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
