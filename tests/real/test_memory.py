"""The whole loop: the real Claude Code with the plugin, and a real Chie that it asks."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.app.processes import BIN, http_server
from tests.fakes import patient
from tests.real.claude_code import ClaudeCode, MessagesApi, Turn
from tests.real.test_plugin import SAVE, TOOLS, connect

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.req("ME-1")]

TITLE = "npm ci は EBADENGINE で落ちる: CI が .nvmrc を読んでいない"
NOTE = {
    "title": TITLE,
    "content": "npm ci が EBADENGINE で失敗する。CI の Node が 18 のままだった。原因は .nvmrc を見ていないこと。"
    "actions/setup-node に node-version-file: .nvmrc を渡すと直る。",
    "questions": ["CI の npm ci が engine の不一致で失敗するのはなぜ?", "Why does npm ci fail in CI with EBADENGINE?"],
}
PROMPT = "CI で npm ci が EBADENGINE になって失敗します。Node のバージョンの問題だと思うので直してください。"
INSTALL = {"command": "sh install.sh", "description": "Install"}
FIX = {"command": "touch .nvmrc", "description": "Fix it"}
SCRIPT = """[ -e .nvmrc ] && exit
echo 'npm ERR! code EBADENGINE' >&2
echo 'npm ERR! engine Unsupported engine' >&2
exit 1
"""


@pytest.fixture
def chie() -> Iterator[str]:
    with http_server("chie", "serve") as url:
        yield url


def claude_code(tmp_path: Path, name: str, url: str, token: str = "") -> ClaudeCode:
    env = {"CHIE_HOME": str(tmp_path / f"{name}-home"), **({"CHIE_TOKEN": token} if token else {})}
    claude = ClaudeCode(tmp_path / name, tmp_path / name / "project", env)
    connect(claude, "--http", url)
    (claude.folder / "install.sh").write_text(SCRIPT)
    return claude


def save(url: str, note: dict[str, Any], token: str = "") -> str:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    response = patient.post(f"{url}/api/knowledge", json=note, headers=headers)
    assert response.status_code < 300, response.text
    note_id: str = response.json()["id"]
    return note_id


def test_note_reaches_the_model_once_with_a_receipt(tmp_path: Path, chie: str) -> None:
    note_id = save(chie, NOTE)
    claude = claude_code(tmp_path, "aki", chie)
    with MessagesApi(Turn(tool="Bash", input=INSTALL), Turn("直します")) as api:
        told = claude.ask(api, PROMPT, *TOOLS)
    assert note_id in api.texts(0)
    assert api.texts(1).count(note_id) == api.texts(0).count(note_id)  # not again at the failure
    assert "systemMessage" in json.dumps(told)
    with MessagesApi(Turn("はい")) as api:
        claude.ask(api, "続けて", *TOOLS)
    assert note_id not in api.texts(0)


def test_failed_command_gets_the_fix_that_another_session_has_saved(tmp_path: Path, chie: str) -> None:
    claude = claude_code(tmp_path, "aki", chie)
    note = {"title": "Install with the right Node", "content": "Use the Node of .nvmrc: nvm use. 直し方はこれだけ。"}
    script = [Turn(tool="Bash", input=command) for command in (INSTALL, FIX, INSTALL)]
    with MessagesApi(*script, Turn(tool=SAVE, input=note), Turn("Saved.")) as api:
        claude.ask(api, "Install it", *TOOLS)
    listed = patient.get(f"{chie}/api/knowledge").json()
    (saved,) = listed.get("notes", listed.get("results", []))
    (claude.folder / ".nvmrc").unlink()
    with MessagesApi(Turn(tool="Bash", input=INSTALL), Turn("わかりました")) as api:
        claude.ask(api, "Do it", *TOOLS)
    assert saved["id"] not in api.texts(0)
    assert saved["id"] in api.texts(1)


@pytest.mark.req("ME-8")
def test_stop_asks_once_after_a_signal(tmp_path: Path, chie: str) -> None:
    claude = claude_code(tmp_path, "aki", chie)
    with MessagesApi(Turn("Nothing was hard.")) as api:
        claude.ask(api, "Hello", *TOOLS)
    assert len(api.seen) == 1
    script = [Turn(tool="Bash", input=command) for command in (INSTALL, FIX, INSTALL)]
    proposal = {"title": "Install needs .nvmrc", "content": "touch .nvmrc before sh install.sh.", "proposal": True}
    with MessagesApi(*script, Turn("Done."), Turn(tool=SAVE, input=proposal), Turn("Proposed.")) as api:
        told = claude.ask(api, "Install it", *TOOLS)
    assert "Stop hook additional context" in api.texts(4)
    assert "stop-hook-error" not in json.dumps(told)
    assert len(api.seen) == 6
    assert told[-1]["result"] == "Proposed."
    (waiting,) = patient.get(f"{chie}/api/knowledge/inbox").json()["proposals"]
    assert str(proposal["title"]) in json.dumps(waiting)


def add_user(name: str) -> str:
    done = subprocess.run([BIN / "chie", "users", "add", name], capture_output=True, text=True, check=True)
    return next(word for word in done.stdout.split() if word.startswith("chie_"))


@pytest.mark.req("ME-6", "ME-10")
def test_users_see_their_own_notes_and_a_revoked_token_is_named(tmp_path: Path) -> None:
    aki, ben = add_user("aki"), add_user("ben")
    with http_server("chie", "serve") as url:
        note_id = save(url, {**NOTE, "private": True}, aki)
        for name, token, sees in (("aki", aki, True), ("ben", ben, False), ("eve", "chie_wrong", False)):
            claude = claude_code(tmp_path, name, url, token)
            with MessagesApi(Turn(tool="Bash", input=INSTALL), Turn("ok")) as api:
                told = claude.ask(api, PROMPT, *TOOLS)
            assert (note_id in api.texts(1)) == sees, name
            assert (TITLE in api.texts(1)) == sees, name
            assert ("no notes are recalled" in json.dumps(told)) == (name == "eve")
        subprocess.run([BIN / "chie", "users", "revoke", "aki"], stdin=subprocess.DEVNULL, check=True)
        claude = claude_code(tmp_path, "aki", url, aki)
        with MessagesApi(Turn("ok")) as api:
            told = claude.ask(api, PROMPT, *TOOLS)
        for text in (note_id, TITLE, "additional context", "memory of findings"):
            assert text not in api.texts(0), text
        assert told[-1]["result"] == "ok"
        assert "no notes are recalled" in json.dumps(told)
        with MessagesApi(Turn("ok")) as api:
            assert "no notes are recalled" not in json.dumps(claude.ask(api, PROMPT, *TOOLS))


@pytest.mark.req("ME-4")
def test_two_sessions_at_once_get_the_note_once_each(tmp_path: Path, chie: str) -> None:
    note_id = save(chie, NOTE)
    claude = claude_code(tmp_path, "aki", chie)
    script = [*[Turn(tool="Bash", input=INSTALL)] * 2, Turn("one"), Turn("two")]
    with MessagesApi(*script) as api, ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda _: claude.ask(api, PROMPT, *TOOLS), range(2)))
    assert sorted(messages[-1]["result"] for messages in told) == ["one", "two"]
    assert len({messages[-1]["session_id"] for messages in told}) == 2
    first = [api.texts(0).count(note_id), api.texts(1).count(note_id)]
    assert min(first) > 0
    assert {api.texts(number).count(note_id) for number in range(4)} == set(first)  # not again at the failure
