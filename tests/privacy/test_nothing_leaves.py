"""A full round of the app and of each server while strace watches: no DNS question, no connection but to this machine,
and no file changed outside `CHIE_HOME` and the temporary folder."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.app.processes import BIN, StdioServer
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes import patient
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock import serving as serving_bedrock
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.hook_bodies import hook_body
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.office_files import docx, pdf
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.web_site import WebSite, html
from tests.n8n.caller import order_flow
from tests.privacy.environment import bare_environment
from tests.privacy.syscalls import Record, reason_not_to_watch, recorded, watching

pytestmark = [
    pytest.mark.req("TR-1"),
    pytest.mark.skipif(reason_not_to_watch() is not None, reason=str(reason_not_to_watch())),
]

OLDER, NEWER = "注文APIのタイムアウトは30秒。長い処理はジョブに回す。", "注文APIのタイムアウトを60秒に変更した。"
AWS_KEYS = {"AWS_ACCESS_KEY_ID": "AKIAENVIRONMENT00000", "AWS_SECRET_ACCESS_KEY": "environment-secret"}


@dataclass(frozen=True)
class Machine:
    """Its folders: `user` is the user's own, `work` the one in which programs start. Both are empty, and stay so."""

    folder: Path
    environment: dict[str, str]

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def record(self) -> Record:
        return recorded(self.folder / "record")

    def command(self, *arguments: str) -> list[str]:
        return watching(self.folder / "record", [BIN / "chie", *arguments])

    def run(self, *arguments: str, given: str = "", **settings: str) -> str:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment | settings,
            input=given,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def app(self, settings: dict[str, str]) -> Iterator[str]:
        """Its URL. strace ignores the signal that ends the app, which is in the same group of processes."""
        process = subprocess.Popen(
            self.command("serve", "--port", "0"),
            env=self.environment | settings,
            cwd=self.work,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout
        try:
            line = process.stdout.readline()
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=60)

    @contextmanager
    def stdio(self, server: str, settings: dict[str, str]) -> Iterator[StdioServer]:
        environment = self.environment | settings
        with StdioServer(*self.command("mcp", server), environment=environment, folder=self.work) as running:
            try:
                yield running
            finally:
                running.stop()  # as a host does; killing strace would leave the server behind


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for name in ("work", "record"):
        (tmp_path / name).mkdir()
    return Machine(tmp_path, bare_environment(tmp_path))


def check(machine: Machine, *reached: str) -> None:
    """`reached` are URLs that the programs were to call: a record without them would prove nothing."""
    record = machine.record()
    ports = {one.port for one in record.connections if one.is_local}
    assert {int(url.rpartition(":")[2]) for url in reached} <= ports
    changed = record.changed_outside(machine.folder / "home", machine.folder / "temporary")
    left = [path for name in ("user", "work") for path in (machine.folder / name).rglob("*")]
    assert (record.outside(), changed, left) == ([], [], [])


def ask(url: str, question: str, **more: object) -> str:
    answer = patient.post(f"{url}/api/chat/stream", json={"message": question, **more})
    assert "event: done" in answer.text, answer.text
    assert "event: error" not in answer.text, answer.text
    return answer.headers["x-chie-session"]


def work_with_notes(url: str) -> None:
    notes = f"{url}/api/knowledge"
    ids = [
        patient.post(notes, json={"content": content}).json()["id"] for content in (OLDER, NEWER, "VPN is Tailscale")
    ]
    assert patient.get(f"{notes}/search", params={"q": "タイムアウト"}).json()["hits"]
    assert patient.post(f"{notes}/import", files={"files": ("a.md", "# 手順\n\nデプロイは水曜。")}).json()["saved"]
    while (page := patient.get(f"{notes}/review").json())["pending"]:
        pass
    finding = next(one for one in page["findings"] if one["kind"] == "contradiction")
    decision = {"finding": finding["id"], "action": "supersede"}
    assert patient.post(f"{notes}/review/decisions", json=decision).is_success
    assert patient.delete(f"{notes}/{ids[2]}").is_success
    for path in ("map", "graph", "export", "trash"):
        assert patient.get(f"{notes}/{path}").is_success


def attach(url: str, name: str, data: bytes) -> str:
    attached = patient.post(f"{url}/api/attachments", files={"file": (name, data)})
    assert attached.is_success, attached.text
    return str(attached.json()["attachment_id"])


def test_app(machine: Machine) -> None:
    with machine.app({}) as url:
        for path in ("/", "/health", "/api/setup", "/api/agents", "/api/models", "/api/endpoints", "/docs", "/metrics"):
            assert patient.get(f"{url}{path}").is_success, path
        work_with_notes(url)
        ask(url, "タイムアウトは何秒？", agent_id="notes")
        prompt = json.dumps(hook_body("user_prompt_submit", prompt="注文APIのタイムアウトは？"))
        assert "60秒" in machine.run("hook", "claude-code", "UserPromptSubmit", given=prompt, CHIE_URL=url)
        hooked = machine.run(
            "hook", "claude-code", "UserPromptSubmit", given=json.dumps(hook_body("user_prompt_submit"))
        )
        assert "systemMessage" in hooked or not hooked
    with (
        WebSite({"/": html("<main><p>水曜</p></main>")}) as site,
        OpenAIServer() as openai,
        AnthropicServer() as anthropic,
        ConverseServer() as bedrock,
    ):
        models = {
            "OPENAI_BASE_URL": openai.base_url,
            "OPENAI_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": anthropic.url,
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "AWS_ENDPOINT_URL": bedrock.url,
            "CHIE_AWS_MODEL": "anthropic.claude-sonnet",
            "CHIE_FETCH_ALLOW": f"127.0.0.1:{site.port}",
            **AWS_KEYS,
        }
        with machine.app(models) as url:
            assert patient.get(f"{url}/api/knowledge").json()["notes"], "the notes of before the restart"
            assert patient.get(f"{url}/api/models").is_success
            files = [attach(url, "請求書.pdf", pdf("請求書", "2")), attach(url, "memo.docx", docx("議事録"))]
            search = Use("search_knowledge", '{"query": "デプロイ"}')
            openai.script.extend([use(search), say("水曜です。")])
            session = ask(url, "いつ？", agent_id="assistant", attachments=files)
            fetch = Use("fetch", json.dumps({"url": f"http://127.0.0.1:{site.port}/"}))
            openai.script.extend([use(fetch), say("水曜です。"), say("はい。")])
            ask(url, "読んで", agent_id="web-scraper")
            ask(url, "本当？", agent_id="default-chat", session_id=session)
            for peer, agent in ((anthropic, "adk"), (bedrock, "aws")):
                peer.script.extend([use(search), say("水曜です。")])
                ask(url, "いつ？", agent_id=agent)
            assert patient.get(f"{url}/api/sessions/{session}/export", params={"format": "markdown"}).is_success
        assert site.requests
        check(machine, openai.url, anthropic.url, bedrock.url)


def test_knowledge_server(machine: Machine) -> None:
    for _ in range(2):
        with machine.stdio("knowledge", {}) as server:
            saved = server.call("save_knowledge", content=NEWER)["structuredContent"]
            assert server.call("search_knowledge", query="timeout")["structuredContent"]["hits"]
            assert not server.call("delete_knowledge", id=saved["id"]).get("isError")
    check(machine)


def test_n8n_server(machine: Machine) -> None:
    with FakeN8n() as n8n:
        workflow = n8n.add_workflow(**order_flow())
        with machine.stdio("n8n", {"N8N_URL": n8n.url, "N8N_API_KEY": KEY}) as server:
            assert not server.call("get_workflow", id=workflow["id"]).get("isError")
            assert server.call("get_workflow", id="missing")["isError"], "is logged"
            assert not server.call("delete_workflow", id=workflow["id"]).get("isError"), "is backed up"
        check(machine, n8n.url)


def test_bedrock_kb_server(machine: Machine) -> None:
    with serving_bedrock() as bedrock:
        settings = {
            "AWS_REGION": "us-east-1",
            "BEDROCK_KB_ID": KB_ID,
            "BEDROCK_MODEL_ARN": MODEL_ARN,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": bedrock.url,
            **AWS_KEYS,
        }
        with machine.stdio("bedrock-kb", settings) as server:
            assert server.call("kb_answer", query="再起動の方法は？")["structuredContent"]["answer"]
        check(machine, bedrock.url)
