"""Every command in the documentation is run here as it is shown, or listed with the reason why it cannot be."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from docs.generate import setting_names
from tests.docs.blocks import PAGES, ROOT, Shown, commands, unmarked
from tests.docs.reader import APP, BIN, Reader
from tests.fakes import patient
from tests.fakes.claude_program import write_claude
from tests.fakes.model_server import Step, Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.office_files import pdf
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.postgres import new_database, run_server
from tests.fakes.vector_search import vector_search
from tests.n8n.caller import order_flow
from tests.service.programs import Programs

NOT_RUN = {
    "make": "run by CI and developers; targets are checked in test_docs.py",
    "pip": "needs the registry; the extras are checked below",
    "uvx": "make real: tests/real/test_distribution.py",
    "claude": "make real: tests/real/test_knowledge.py and test_connect.py",
    "aws": "needs AWS; the protocol that the function speaks is in tests/deploy/test_lambda.py",
    "gcloud": "needs Google Cloud; the files it is given are checked in tests/deploy",
    "docker": "needs Docker; the Dockerfile's command is run in tests/deploy",
    "envsubst": "input of gcloud; the files are checked in tests/deploy",
    "printf": "input of gcloud",
    "for": "calls gcloud",
    "done": "calls gcloud",
    "pg_dump": "is run as printed in tests/backup",
    "pg_restore": "is run as printed in tests/backup",
}
FOREIGN_VARIABLES = {
    "N8N_URL",
    "N8N_API_KEY",
    "PROJECT_ID",
    "REGION",
    "IMAGE",
    "ACCOUNT",
    "POSTGRES_PASSWORD",
    "AWS_PROFILE",
}
OLLAMA_MODEL = "ollama/qwen3:8b"
DATABASES = re.compile(r"postgresql://\S+")


class Endless(list[Step]):
    """A script that repeats a default step when it is exhausted."""

    def popleft(self) -> Step:
        return self.pop(0) if self else say("知恵です。")


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.script = Endless()  # type: ignore[assignment]
        yield server


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    yield from run_server()


@pytest.fixture
def reader(tmp_path: Path, model: OpenAIServer) -> Iterator[Reader]:
    """The home folder has a vault of notes, a git repository and a folder for fish, as the pages assume."""
    for folder in ("vault", ".config/fish/completions", "managers"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "vault" / "a.md").write_text("# nginx\n\nworker_connections", encoding="utf-8")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "Fix the pool"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    with vector_search() as service, FakeN8n() as n8n:
        n8n.add_workflow(**order_flow())
        env = {"OPENAI_BASE_URL": model.base_url, "CHIE_VECTOR_SEARCH_EMULATOR": service.address}
        env |= {"N8N_URL": n8n.url, "N8N_API_KEY": KEY}
        managers = Programs(tmp_path / "managers")
        managers.add("systemctl")
        managers.answer("show chie.service", output="ActiveState=active\nSubState=running\n")
        write_claude(managers.folder)
        env["PATH"] = f"{managers.folder}:{BIN}:{os.environ['PATH']}"
        yield Reader(tmp_path, env)


SHOWN = commands()
RUN = [shown for shown in SHOWN if shown.program not in NOT_RUN]


@pytest.mark.parametrize("page", sorted({shown.page for shown in RUN}), ids=lambda page: page.name)
def test_commands_of_a_page_work(page: Path, reader: Reader, model: OpenAIServer, postgres: str) -> None:
    shown = [command for command in RUN if command.page == page]
    database = new_database(postgres)
    for command in shown:
        for url in DATABASES.findall(command.text):
            reader.replacements[url] = f"'{database}'"
        if APP in command.text and "connect" not in command.text and APP not in reader.replacements:
            with reader.app():
                for later in shown[shown.index(command) :]:
                    prepare(later, reader, model)
                    reader.type(later)
            return
        prepare(command, reader, model)
        reader.type(command)


def prepare(shown: Shown, reader: Reader, model: OpenAIServer) -> None:
    for sign, preparation in PREPARATIONS.items():
        if sign in shown.text:
            preparation(reader, model)


def save_a_note(reader: Reader, _: OpenAIServer) -> None:
    saved = subprocess.run(
        ["chie", "notes", "save", "--json", "redis evicts sessions"],
        env=reader.env,
        capture_output=True,
        text=True,
        check=True,
    )
    reader.replacements["ID"] = json.loads(saved.stdout)["id"]


def write_cases(reader: Reader, model: OpenAIServer) -> None:
    save_a_note(reader, model)
    case = {"query": "redis evicts sessions", "note": reader.replacements["ID"]}
    (reader.home / "cases.jsonl").write_text(json.dumps(case), encoding="utf-8")


def write_invoice(reader: Reader, _: OpenAIServer) -> None:
    (reader.home / "invoice.pdf").write_bytes(pdf("Invoice 42"))


def ask(reader: Reader, _: OpenAIServer) -> None:
    response = patient.post(f"{reader.replacements[APP]}/api/chat/stream", json={"message": "hello"})
    reader.env["MESSAGE"] = response.headers["X-Chie-Message"]
    session = patient.get(f"{reader.replacements[APP]}/api/sessions/{response.headers['X-Chie-Session']}").json()
    reader.env["QUESTION"] = session["messages"][0]["message_id"]
    reader.env["SESSION"] = session["session_id"]


def ask_before_queueing(reader: Reader, model: OpenAIServer) -> None:
    ask(reader, model)
    reader.env["QUEUED"] = str(uuid4())


def ask_for_a_destructive_tool(reader: Reader, model: OpenAIServer) -> None:
    model.script.append(use(Use("delete_knowledge", '{"id": "k-1"}', "call-1")))
    body = {"message": "delete it", "agent_id": "assistant"}
    with patient.stream("POST", f"{reader.replacements[APP]}/api/chat/stream", json=body) as response:
        reader.env["MESSAGE"] = response.headers["X-Chie-Message"]
        next(line for line in response.iter_lines() if '"approval": "required"' in line)


def choose_a_model(reader: Reader, _: OpenAIServer) -> None:
    endpoints = patient.get(f"{reader.replacements[APP]}/api/models").json()["endpoints"]
    reader.replacements[OLLAMA_MODEL] = next(model["id"] for one in endpoints for model in one["models"])


PREPARATIONS: dict[str, Callable[[Reader, OpenAIServer], None]] = {
    "chie backup": save_a_note,
    "eval --file": write_cases,
    "notes show ID": save_a_note,
    "notes delete ID": save_a_note,
    "@invoice.pdf": write_invoice,
    "/stream/$MESSAGE": ask,
    "/stop": ask,
    "/regenerate": ask,
    "/queue/$QUEUED": ask_before_queueing,
    OLLAMA_MODEL: choose_a_model,
    "/approve": ask_for_a_destructive_tool,
}


def test_pages_with_make_run_use_the_programs_in_the_virtual_environment() -> None:
    """`.venv/bin` is not on a user's PATH; it is on the PATH of this test, which would not notice."""
    pages = {shown.page for shown in SHOWN if shown.text == "make run"}
    ours = re.compile(r"(?:\S+=\S+ )*(?:chie|knowledge-gateway|mcp-bedrock-kb|n8n-mcp-server)\b")
    assert pages
    assert [str(shown) for shown in SHOWN if shown.page in pages and ours.match(shown.text)] == []


def test_commands_that_are_not_run_are_shown_somewhere() -> None:
    assert set(NOT_RUN) == {shown.program for shown in SHOWN if shown.program in NOT_RUN}


def test_every_code_block_has_a_language() -> None:
    assert unmarked() == []


def test_every_variable_that_a_page_sets_is_a_setting() -> None:
    named = {name for shown in SHOWN for name in shown.variables}
    assert named - FOREIGN_VARIABLES - setting_names() == set()


def test_every_extra_that_a_page_installs_exists() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in set(re.findall(r"'chie\[([\w,]+)\]'", text)):
        assert all(f"\n{name} = [" in project for name in extra.split(",")), extra
