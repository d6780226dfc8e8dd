"""All agents together, as the app opens them."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.contract.agent import ask, text_of
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.web_site import WebSite, plain, redirect
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.agents import registry as registry_module
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.base import AgentInfo
from chie.chat.agents.registry import AgentFactory
from chie.chat.models import openai_endpoint
from chie.chat.models.errors import ModelError
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError, NotFoundError
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message
from chie.servers import load_agent_servers
from chie.settings import load

ROOT = Path(__file__).parents[3]
UNCONFIGURED = """
from chie.errors import ConfigurationError
def create(*_): raise ConfigurationError("agents.aws_credentials_missing")
"""
UNREACHABLE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials, no model."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("OPENAI_BASE_URL", UNREACHABLE)


def write(home: Path, name: str, content: object) -> None:
    home.mkdir(exist_ok=True)
    (home / name).write_text(json.dumps(content), encoding="utf-8")


@asynccontextmanager
async def opened(servers: Mapping[str, Server | ConfigurationError] | None = None) -> AsyncIterator[AgentFactory]:
    """As the app opens them, with the built-in fetch server."""
    if servers is None:
        unconfigured = ConfigurationError("toolbox.program_not_found", command="n8n")
        servers = {"knowledge": create_workbench(Witness(), "knowledge"), "n8n": unconfigured}
    async with open_agents(load(ChatSettings), servers, load_agent_servers()) as factory:
        yield factory


async def infos(factory: AgentFactory) -> dict[str, AgentInfo]:
    return {info["agent_id"]: info for info in await factory.list_agents()}


@pytest.mark.req("CH-6")
async def test_builtin_agents() -> None:
    async with opened() as factory:
        assert list(await infos(factory)) == ["default-chat", "assistant", "web-scraper", "aws", "adk", "notes"]
        assert factory.get_agent("web-scraper").supports_mcp()


@pytest.mark.req("CH-6")
async def test_unknown_agent_is_not_found_and_duplicate_id_is_rejected() -> None:
    async with opened() as factory:
        with pytest.raises(NotFoundError, match="Available agents: default-chat, assistant, web-scraper") as unknown:
            factory.get_agent("unknown")
        with pytest.raises(ConfigurationError) as duplicate:
            factory.register_agent(factory.get_agent("notes"))
    assert unknown.value.code == "agents.not_found"
    assert duplicate.value.reason == Message("agents.id_duplicate", id="notes")


async def test_without_configuration_only_the_notes_agent_is_available() -> None:
    async with opened() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
    available = {name for name, info in found.items() if info["available"]}
    assert available == {"notes"}
    reasons = {name: (info["reason_code"], info["reason_params"]) for name, info in found.items()}
    unreachable = {"url": UNREACHABLE, "error": "ConnectError", "setting": "`OPENAI_BASE_URL`"}
    assert reasons["default-chat"] == ("models.local_server_unreachable", unreachable)
    assert reasons["aws"] == ("agents.aws_credentials_missing", {})
    assert reasons["adk"] == ("models.api_key_missing", {"setting": "`ANTHROPIC_API_KEY`"})


async def test_texts_of_builtin_agents_have_codes(home: Path) -> None:
    write(home, "agents.json", [{"id": "mine", "kind": "openai", "name": "私の"}])
    async with opened() as factory:
        found = await infos(factory)
    builtin = [info for info in found.values() if info["agent_id"] != "mine"]
    assert all(info["name_code"] and info["description_code"] for info in builtin)
    assert all(info["name"] == Message(info["name_code"] or "").text() for info in builtin)
    assert (found["web-scraper"]["name"], found["assistant"]["name"]) == ("Web reader", "Assistant")
    assert (found["mine"]["name"], found["mine"]["name_code"]) == ("私の", None)
    assert found["mine"]["description_code"] == "agents.openai_description"


async def test_lm_studio_is_the_default_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert ChatSettings().model_url == "http://127.0.0.1:1234/v1"
    assert ChatSettings(openai_base_url="http://box:8000/v1/").model_url == "http://box:8000/v1"


@pytest.mark.req("CH-2")
async def test_unreachable_model_is_reported_with_its_url() -> None:
    async with opened() as factory:
        with pytest.raises(
            ModelError, match=f"No model server responds at {UNREACHABLE}.*Start it.*set `OPENAI_BASE_URL`"
        ):
            await ask(factory.get_agent("default-chat"))


async def test_configured_model_on_an_unreachable_server_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHIE_MODEL", "my-model")
    async with opened() as factory:
        with pytest.raises(ModelError, match=f"No model server responds at {UNREACHABLE}"):
            await ask(factory.get_agent("default-chat"))


@pytest.mark.req("CH-2", "CH-2-2")
async def test_agent_without_tools_is_the_default_and_the_page_selects_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(say("hi")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("CHIE_MODEL", "my-model")
        async with opened() as factory:
            assert (await factory.default_id(), await factory.preselected_id()) == ("default-chat", "assistant")
            found = await infos(factory)
            assert (found["default-chat"]["model"], found["assistant"]["available"]) == ("my-model", True)
            await ask(factory.get_agent("default-chat"))
    assert server.seen[0]["model"] == "my-model"


async def test_default_agent_is_rechecked_in_the_background(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
    monkeypatch.setattr(registry_module, "RECHECK_DELAY_SECONDS", 0.0)
    with ExitStack() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.enter_context(OpenAIServer()).base_url)
        async with opened() as factory:
            assert await factory.default_id() == "default-chat"
            running.close()
            assert await factory.default_id() == "default-chat"  # the last known state; the check has started
            await next(task for task in asyncio.all_tasks() if task.get_name() == "default-agent")
            assert await factory.default_id() == "notes"


async def test_agent_listed_as_unavailable_is_not_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
    with ExitStack() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.enter_context(OpenAIServer()).base_url)
        async with opened() as factory:
            assert await factory.default_id() == "default-chat"
            running.close()
            assert not (await infos(factory))["default-chat"]["available"]
            assert await factory.default_id() == await factory.preselected_id() == "notes"


async def test_server_without_a_chat_model_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(models=("nomic-embed-text",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            info = (await infos(factory))["default-chat"]
    assert info["reason_code"] == "models.no_chat_model"
    assert info["reason_params"] == {"url": server.base_url, "setting": "`CHIE_MODEL`"}


async def test_assistant_uses_builtin_servers_and_names_the_unavailable_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer(use(Use("echo", '{"text": "x"}')), say("ok")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            events = await ask(factory.get_agent("assistant"))
    assert [event["content"] for event in events if event["type"] == "tool_result"] == ["echo: x"]
    assert "not available now: n8n" in server.seen[0]["messages"][0]["content"]


SEED_SERVERS = {
    "mcp-server-fetch": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-fetch"], "env": {}}
}  # servers.json of the requirements, word for word


@pytest.fixture
def npx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An `npx` that starts the published `mcp-server-fetch`: npm does not have the package that the seed names."""
    program = tmp_path / "bin" / "npx"
    program.parent.mkdir()
    server = Path(sys.executable).parent / "mcp-server-fetch"
    program.write_text(f'#!/bin/sh\nexec "{server}" --allow-private-ips --ignore-robots-txt\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebSite]:
    with WebSite({"/page": plain("富士山は 3,776 m です。"), "/away": redirect("/page")}) as site:
        monkeypatch.setenv("CHIE_FETCH_ALLOW", f"127.0.0.1:{site.port}")
        yield site


async def test_web_scraper_reads_a_page_without_any_configuration(
    monkeypatch: pytest.MonkeyPatch, site: WebSite
) -> None:
    with OpenAIServer(use(Use("fetch", json.dumps({"url": f"{site.url}/page"}))), say("3,776 m")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            assert (await infos(factory))["web-scraper"]["available"]
            events = await ask(factory.get_agent("web-scraper"), "富士山の高さは?")
            states = {state["name"]: (state["state"], state["transport"]) for state in factory.server_states()}
            tools = factory.toolbox.toolset(factory.get_agent("assistant")._tools.servers).tools()  # type: ignore[attr-defined]
    [result] = [event for event in events if event["type"] == "tool_result"]
    assert (result["is_error"], "富士山は 3,776 m です。" in result["content"]) == (False, True)
    assert states["fetch"] == ("connected", "built-in")
    assert "fetch" not in {tool.name for tool in tools}, "an agent with the notes must not send them to the web"


@pytest.mark.usefixtures("npx")
@pytest.mark.parametrize("servers", [None, SEED_SERVERS], ids=["our fetch", "the operator's"])
async def test_web_scraper_cannot_read_this_machine(
    monkeypatch: pytest.MonkeyPatch, home: Path, servers: object
) -> None:
    if servers:
        write(home, "servers.json", servers)
    with WebSite({"/api/sessions": plain("private")}) as site:
        with OpenAIServer(use(Use("fetch", json.dumps({"url": f"{site.url}/api/sessions"}))), say("no")) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            async with opened() as factory:
                events = await ask(factory.get_agent("web-scraper"))
        assert site.requests == []
    [result] = [event for event in events if event["type"] == "tool_result"]
    assert (result["is_error"], result["code"]) == (True, "web_fetch.address_refused")


@pytest.mark.req("CH-3", "CH-7", "CH-8")
@pytest.mark.usefixtures("npx")
async def test_web_scraper_reads_with_the_server_of_the_seed(
    monkeypatch: pytest.MonkeyPatch, home: Path, site: WebSite
) -> None:
    """The seed's own entry, a real process, the published server; the server keeps its name and asks nobody."""
    write(home, "servers.json", SEED_SERVERS)
    write(home, "agents.json", [{"id": "mine", "kind": "openai", "servers": ["mcp-server-fetch"]}])
    call = use(Use("fetch", json.dumps({"url": f"{site.url}/page"})))
    with OpenAIServer(call, say("3,776 メートルです。")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            events = await ask(factory.get_agent("web-scraper"), "富士山の高さは?")
            states = {state["name"]: state["state"] for state in factory.server_states()}
            await factory.toolbox.initialize_servers(["mcp-server-fetch"])
            assert {tool["function"]["name"] for tool in factory.toolbox.get_tools()} == {"fetch"}
            direct = await factory.toolbox.call_tool("fetch", {"url": f"{site.url}/page"})
    assert text_of(events) == "3,776 メートルです。"
    assert server.tools(server.seen[0]) == ["fetch"]
    assert "富士山は 3,776 m です。" in server.results(server.seen[1])[0][1]
    assert "富士山" in direct.content
    assert [event.get("approval") for event in events if event["type"] == "tool_call"] == [None]
    assert (states["mcp-server-fetch"], states["fetch"]) == ("connected", "idle")


@pytest.mark.req("CH-8")
@pytest.mark.parametrize("status", [None, 1], ids=["no npx", "npm has no such package"])
async def test_web_scraper_reads_although_the_package_of_the_seed_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path, site: WebSite, status: int | None
) -> None:
    write(home, "servers.json", SEED_SERVERS)
    if status:
        write(tmp_path / "bin", "npx", None)
        (tmp_path / "bin" / "npx").write_text(f"#!/bin/sh\necho 'npm error code E404' >&2\nexit {status}\n")
        (tmp_path / "bin" / "npx").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with OpenAIServer(use(Use("fetch", json.dumps({"url": f"{site.url}/page"}))), say("3,776 m")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            events = await ask(factory.get_agent("web-scraper"), "富士山の高さは?")
            info = (await infos(factory))["web-scraper"]
            states = {state["name"]: state["state"] for state in factory.server_states()}
    assert info["available"]
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [False]
    assert (states["mcp-server-fetch"] != "connected", states["fetch"]) == (True, "connected")


async def test_operators_entry_replaces_the_builtin_fetch_server(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        write(home, "servers.json", {"fetch": {"command": "no-such-program"}})
        async with opened() as factory:
            assert (await infos(factory))["web-scraper"]["available"]
            await factory.toolbox.initialize_servers(["fetch"])
            info = (await infos(factory))["web-scraper"]
        assert (info["reason_code"], info["reason_params"]) == (
            "toolbox.program_not_found",
            {"command": "no-such-program"},
        )
        write(home, "servers.json", {"fetch": {"command": "x", "disabled": True}})
        async with opened() as factory:
            assert (await infos(factory))["web-scraper"]["reason_code"] == "agents.fetch_server_required"


async def test_servers_of_the_file_reach_agents_that_use_tools(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Except those that read the web, which the assistant could use to send away what it has read in notes."""
    entry = {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "legacy"], "cwd": str(ROOT)}
    write(home, "servers.json", {"peer": entry, "fetch": entry, "mcp-server-fetch": entry})
    write(home, "agents.json", [{"id": "mine", "kind": "openai"}, {"id": "own", "kind": "openai", "servers": []}])
    with OpenAIServer(say("x"), say("x"), say("x"), say("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            for name in ("assistant", "mine", "own", "default-chat"):
                await ask(factory.get_agent(name))
            assert factory.get_agent("assistant").mcp_servers() == ("knowledge", "n8n", "peer")
    offered = [{tool["function"]["name"] for tool in seen.get("tools", ())} for seen in server.seen]
    assert [("whoami" in names, "fetch" in names) for names in offered] == [
        (True, False), (True, False), (False, False), (False, False)
    ]  # fmt: skip


async def test_tool_server_that_dies_during_a_call_does_not_end_the_answer(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    entry = {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "legacy"], "cwd": str(ROOT)}
    write(home, "servers.json", {"peer": entry})
    write(home, "agents.json", [{"id": "brave", "kind": "openai", "servers": ["peer"]}])
    script = (use(Use("die", id="c1")), use(Use("whoami", id="c2")), say("It came back."))
    with OpenAIServer(*script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with opened() as factory:
            events = await ask(factory.get_agent("brave"))
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [True, False]
    assert text_of(events) == "It came back."


async def test_agents_of_the_file_are_added_and_may_replace_builtin_ones(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-operator")
    with OpenAIServer(say("x")) as server:
        mine = {"id": "mine", "kind": "openai", "base_url": server.base_url, "tools": ["echo"], "name": "私の"}
        other = {"id": "assistant", "kind": "default", "name": "Plain"}
        write(home, "agents.json", {"agents": [mine, other]})
        async with opened() as factory:
            found = await infos(factory)
            await ask(factory.get_agent("mine"))
    assert list(found) == ["default-chat", "assistant", "web-scraper", "aws", "adk", "mine", "notes"]
    assert (found["assistant"]["name"], found["assistant"]["supports_mcp"]) == ("Plain", False)
    assert (found["mine"]["name"], found["mine"]["model"]) == ("私の", "qwen3-8b")
    assert server.tools(server.seen[0]) == ["echo"]
    assert "sk-operator" not in str(server.headers), "the common key must not be sent to another URL"


async def test_errors_of_an_agent_in_the_file_name_the_file(home: Path) -> None:
    write(home, "agents.json", [{"id": "mine", "kind": "default", "base_url": "http://127.0.0.1:9/x"}])
    async with opened() as factory:
        info = (await infos(factory))["mine"]
    assert info["reason_code"] == "models.local_server_unreachable"
    assert "set `base_url` in `agents.json` to" in (info["reason"] or "")


@pytest.mark.parametrize(
    ("url", "key", "hint"),
    [
        ("http://127.0.0.1:99999/v1", "sk-1", "Correct `base_url` in `agents.json`."),
        ("http://127.0.0.1:-1/v1", "sk-1", "Correct `base_url` in `agents.json`."),
        ("http://[::1/v1", "sk-1", "Correct `base_url` in `agents.json`."),
        ("gpu-box:8000/v1", "sk-1", "Correct `base_url` in `agents.json`."),
        ("http://127.0.0.1:9/v1\n", "sk-1", "Correct `base_url` in `agents.json`."),
        (None, "ｓｋ-abc", "`api_key` in `agents.json` has characters that an API key cannot have"),
        (None, "sk-abc\n", "`api_key` in `agents.json` has characters that an API key cannot have"),
    ],
    ids=["port", "negative port", "bracket", "no scheme", "line break", "full-width key", "key with a line break"],
)
async def test_invalid_url_or_key_makes_only_that_agent_unavailable(
    home: Path, monkeypatch: pytest.MonkeyPatch, url: str | None, key: str, hint: str
) -> None:
    monkeypatch.setenv("CHIE_MODEL", "m")
    entry = {"id": "default-chat", "kind": "default", "api_key": key} | ({"base_url": url} if url else {})
    write(home, "agents.json", [entry])
    async with opened() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
        with pytest.raises(ConfigurationError) as caught:
            await ask(factory.get_agent("default-chat"))
    reason = found["default-chat"]["reason"] or ""
    assert (found["default-chat"]["available"], found["notes"]["available"]) == (False, True)
    assert hint in reason
    assert reason == caught.value.message
    assert key.strip() not in reason


async def test_invalid_common_key_is_reported_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ｓｋ-abc")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "ｓｋ-ant")
    async with opened() as factory:
        found = await infos(factory)
    reasons = {name: (info["reason_code"], info["reason_params"]) for name, info in found.items()}
    assert reasons["default-chat"] == ("models.key_invalid", {"setting": "`OPENAI_API_KEY`"})
    assert reasons["adk"] == ("models.key_invalid", {"setting": "`ANTHROPIC_API_KEY`"})


async def test_agent_of_the_file_may_have_the_kind_of_a_plug_in(home: Path) -> None:
    write(home, "agents.json", [{"id": "claude-2", "kind": "adk", "model": "claude-haiku-5-5"}])
    async with opened() as factory:
        assert (await infos(factory))["claude-2"]["model"] == "claude-haiku-5-5"


@pytest.mark.req("CH-5")
async def test_any_package_can_add_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index"]
    package = ROOT / "tests" / "fakes" / "chie-agent-parrot"
    options = ["--no-deps", "--no-build-isolation", "--target", str(tmp_path / "site")]
    subprocess.run([*install, *options, str(package)], check=True)  # noqa: ASYNC221  nothing else runs
    monkeypatch.syspath_prepend(tmp_path / "site")
    async with opened() as factory:
        assert list(await infos(factory))[-2:] == ["parrot", "notes"]
        assert text_of(await ask(factory.get_agent("parrot"), "オウム")) == "オウム"


@pytest.mark.parametrize(
    ("source", "code"),
    [("raise RuntimeError('sk-secret')", "agents.plugin_failed"), (UNCONFIGURED, "agents.aws_credentials_missing")],
    ids=["broken", "not configured"],
)
async def test_failing_plug_in_is_listed_as_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, code: str
) -> None:
    install_broken(tmp_path / "site", monkeypatch, source)
    async with opened() as factory:
        broken = (await infos(factory))["broken"]
        with pytest.raises(ConfigurationError):
            await ask(factory.get_agent("broken"))
    assert (broken["available"], broken["reason_code"]) == (False, code)
    assert "sk-secret" not in (broken["reason"] or "")


async def test_plug_in_that_cannot_report_its_state_is_logged_and_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = """
from types import SimpleNamespace
async def info(): raise RuntimeError("sk-secret")
async def close(): ...
def create(profile, _): return SimpleNamespace(agent_id=profile.id, get_agent_info=info, close=close)
"""
    install_broken(tmp_path / "site", monkeypatch, source)
    async with opened() as factory:
        found = await infos(factory)
        assert await factory.default_id() == "notes"
    assert (found["broken"]["available"], found["notes"]["available"]) == (False, True)
    assert found["broken"]["reason"] == str(Message("agents.info_failed", id="broken", error="RuntimeError"))
    assert "sk-secret" not in (found["broken"]["reason"] or "")
    assert (
        "chie.chat.agents.registry",
        logging.ERROR,
        "agent broken failed to report its state",
    ) in caplog.record_tuples


def install_broken(site: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    info = site / "broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[chie.agents]\nbroken = broken:create\n", encoding="utf-8")
    (site / "broken.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "broken", raising=False)


def test_no_sdk_is_imported_before_its_agent_is_used() -> None:
    script = """
import asyncio, sys
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings

async def main():
    async with open_agents(ChatSettings(openai_base_url="http://127.0.0.1:9/v1"), {}) as factory:
        await factory.list_agents()

asyncio.run(main())
print(sorted({"openai", "anthropic", "boto3", "botocore", "numpy", "sqlalchemy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
