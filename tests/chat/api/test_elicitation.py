"""Servers that ask while their tool runs: the app with a model on loopback and a real server, in both eras."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL
from tests.fakes.asking import URL as PAY_URL
from tests.fakes.chat import ChatClient, open_chat, sqlite_url
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import Reader, asking, following

from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.settings import load

pytestmark = pytest.mark.req("AG-10")

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine gets a minute to start a program."""
    monkeypatch.setattr("chie.chat.toolbox.toolbox.SETTLE_TIMEOUT_SECONDS", 60.0)


@pytest.fixture
def url(tmp_path: Path) -> URL:
    return sqlite_url(tmp_path)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def write(home: Path, era: str) -> None:
    entry = {"command": sys.executable, "args": ["-m", "tests.fakes.asking", era], "cwd": str(ROOT)}
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(json.dumps({"asking": {**entry, "roots": ["file:///srv/work"], "timeout": 60}}))
    agent = {"id": "tester", "kind": "openai", "name": "Tester", "servers": ["asking"]}
    (home / "agents.json").write_text(json.dumps([agent]))


@asynccontextmanager
async def opened(home: Path, era: str, url: URL) -> AsyncIterator[ChatClient]:
    write(home, era)
    async with open_agents(load(ChatSettings), {}) as agents, open_chat(url, agents) as chat:
        yield chat


async def until(reader: Reader, kind: str) -> dict[str, Any]:
    while (event := await reader.event()).event != kind:
        pass
    return event.data


async def result(reader: Reader) -> str:
    content: str = (await until(reader, "tool_result"))["content"]
    await reader.rest()
    return content


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_form_waits_for_the_answer_also_after_a_reload(
    home: Path, era: str, url: URL, model: OpenAIServer
) -> None:
    model.script.extend([use(Use("deploy")), say("Done.")])
    async with opened(home, era, url) as chat:
        async with asking(chat.client, "deploy", agent_id="tester") as reader:
            question = await until(reader, "elicitation")
        assert (question["mode"], question["server"]) == ("form", "asking")
        assert question["message"] == "Deploy what? どれを？"
        assert list(question["schema"]["properties"]) == ["name", "count", "sure", "stage"]
        async with following(chat.client, reader.message_id) as back:
            again = await until(back, "elicitation")
            assert again == question
            path = f"/api/chat/{reader.message_id}/answer"
            unknown = await chat.client.post(path, json={"id": "other", "action": "accept"})
            assert (unknown.status_code, unknown.json()["code"]) == (404, "chat.question_not_found")
            content = {"name": "メイン", "count": 3, "sure": True, "stage": "test"}
            body = {"id": question["id"], "action": "accept", "content": content}
            assert (await chat.client.post(path, json=body)).status_code == 204
            assert (await until(back, "elicitation_end"))["action"] == "accept"
            expected = "accept: [('count', 3), ('name', 'メイン'), ('stage', 'test'), ('sure', True)]"
            assert await result(back) == expected


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_prompt_does_not_ask_a_run_that_is_not_its_own(
    home: Path, era: str, url: URL, model: OpenAIServer
) -> None:
    model.script.extend([use(Use("deploy")), say("Done.")])
    async with opened(home, era, url) as chat, asking(chat.client, "deploy", agent_id="tester") as reader:
        question = await until(reader, "elicitation")
        filled = await chat.client.post("/api/mcp/servers/asking/prompt", json={"prompt": "pay"})
        assert filled.json() == {"text": "cancel: []"}
        path, body = f"/api/chat/{reader.message_id}/answer", {"id": question["id"], "action": "decline"}
        assert (await chat.client.post(path, json=body)).status_code == 204
        assert await result(reader) == "decline: []"


@pytest.mark.parametrize("action", ["decline", "cancel", "accept"])
@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_url_is_shown_and_the_decision_returned(
    home: Path, era: str, action: str, url: URL, model: OpenAIServer
) -> None:
    model.script.extend([use(Use("pay")), say("Done.")])
    async with opened(home, era, url) as chat, asking(chat.client, "pay", agent_id="tester") as reader:
        question = await until(reader, "elicitation")
        assert (question["mode"], question["url"]) == ("url", PAY_URL)
        body = {"id": question["id"], "action": action}
        await chat.client.post(f"/api/chat/{reader.message_id}/answer", json=body)
        assert await result(reader) == f"{action}: []"


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_model_answers_a_server_after_the_user_has_agreed(
    home: Path, era: str, url: URL, model: OpenAIServer
) -> None:
    model.script.extend([use(Use("think")), say("four"), say("It is four.")])
    async with opened(home, era, url) as chat:
        async with asking(chat.client, "think", agent_id="tester") as reader:
            question = await until(reader, "elicitation")
            assert (question["mode"], question["message"]) == ("sampling", "user: 2 + 2 = ?")
            assert len(model.seen) == 1, "the model waits for the user too"
            body = {"id": question["id"], "action": "accept"}
            await chat.client.post(f"/api/chat/{reader.message_id}/answer", json=body)
            assert await result(reader) == "model: four"
        model.script.extend([use(Use("think")), say("Then not.")])
        async with asking(chat.client, "think", agent_id="tester") as reader:
            question = await until(reader, "elicitation")
            body = {"id": question["id"], "action": "decline"}
            await chat.client.post(f"/api/chat/{reader.message_id}/answer", json=body)
            refused = await until(reader, "tool_result")
            assert refused["is_error"]
            assert "2 + 2" not in json.dumps(model.seen[-1]["messages"][:-1], ensure_ascii=False)


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_roots_progress_and_log_lines_reach_the_run(home: Path, era: str, url: URL, model: OpenAIServer) -> None:
    model.script.extend([use(Use("folders")), use(Use("slow", id="call_1")), say("Done.")])
    async with opened(home, era, url) as chat, asking(chat.client, "go", agent_id="tester") as reader:
        events = await reader.rest()
    results = [event.data["content"] for event in events if event.event == "tool_result"]
    assert results == ["roots: ['file:///srv/work']", "slept"]
    progress = [event.data for event in events if event.event == "tool_progress"]
    assert progress[-1] == {"type": "tool_progress", "id": "call_1", "progress": 4, "total": 4, "message": "done"}
    logs = [event.data["text"] for event in events if event.event == "tool_log"]
    assert logs == ["ログの一行"]


async def test_another_process_takes_the_answer_to_the_run(home: Path, both: URL, model: OpenAIServer) -> None:
    model.script.extend([use(Use("pay")), say("Done.")])
    async with opened(home, "modern", both) as chat, open_chat(both) as other:
        async with asking(chat.client, "pay", agent_id="tester") as reader:
            question = await until(reader, "elicitation")
            body = {"id": question["id"], "action": "accept"}
            sent = await other.client.post(f"/api/chat/{reader.message_id}/answer", json=body)
            assert sent.status_code == 204, sent.text
            assert await result(reader) == "accept: []"
        late = await other.client.post(f"/api/chat/{reader.message_id}/answer", json=body)
        assert (late.status_code, late.json()["code"]) == (409, "chat.answer_ended")


async def test_nobody_is_asked_over_v1(home: Path, url: URL, model: OpenAIServer) -> None:
    model.script.extend([use(Use("pay")), say("Not paid.")])
    async with opened(home, "modern", url) as chat:
        body = {"model": "tester", "messages": [{"role": "user", "content": "pay"}]}
        answer = (await chat.client.post("/v1/chat/completions", json=body)).json()
    assert answer["choices"][0]["message"]["content"] == "Not paid."
    assert model.results(model.seen[1])[0][1] == "cancel: []"
