"""`chie hook`: silent and quick whatever the server does, and importing only what it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from platformdirs import user_data_path
from tests.app.processes import BIN
from tests.fakes.hook_bodies import NAMES, hook_body
from tests.fakes.hook_server import HookServer

from chie.cli import main
from chie.hook.command import MAX_BODY_BYTES, run
from chie.hook.http import ResponseError, split_url
from chie.hook.login import find_login, home_folder
from chie.hook.repository import git_remote
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("ME-14")

CONTEXT = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "再起動で直ります"}}
DEAD = "http://127.0.0.1:9"
# Every module more is paid for at every prompt. The rest of what Python's own `json`, `socket` and `threading` import:
ALLOWED = set(
    "array collections copyreg enum errno functools genericpath itertools json keyword math operator os posixpath re "
    "reprlib select selectors signal socket stat threading types warnings weakref".split()
)


def hook(client: str, event: str, body: dict[str, Any] | bytes, **env: str) -> "subprocess.CompletedProcess[bytes]":
    given = body if isinstance(body, bytes) else json.dumps(body).encode()
    command = [str(BIN / "chie"), "hook", client, event]
    return subprocess.run(command, input=given, env={**os.environ, **env}, capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize("name", NAMES)
def test_claude_codes_own_bodies_are_sent_as_they_are(name: str) -> None:
    body = hook_body(name)
    answer = {**CONTEXT, "systemMessage": "Chie: 1 note recalled"}
    with HookServer({body["hook_event_name"]: answer}) as server:
        env = {"CHIE_URL": f"{server.url}/", "CHIE_TOKEN": "tok-123"}
        printed = run("claude-code", body["hook_event_name"], json.dumps(body).encode(), env)
    (call,) = server.calls
    assert call.path == "/hooks/claude-code"
    assert call.headers["authorization"] == "Bearer tok-123"
    sent = {key: value for key, value in call.body.items() if key != "git_remote"}
    assert sent == {key: value for key, value in body.items() if key != "git_remote"}
    assert json.loads(printed) == answer


def test_program_prints_the_answer_and_nothing_else() -> None:
    with HookServer({"UserPromptSubmit": CONTEXT}) as server:
        done = hook("claude-code", "UserPromptSubmit", hook_body("user_prompt_submit"), CHIE_URL=server.url)
    assert (json.loads(done.stdout), done.stderr, done.returncode) == (CONTEXT, b"", 0)


@pytest.mark.req("ME-6")
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "SessionEnd"])
@pytest.mark.parametrize(
    "server",
    [
        HookServer(status=401),
        HookServer(status=500),
        HookServer(status=302),
        HookServer(stalled=True),
        HookServer({"UserPromptSubmit": b"<html>", "Stop": b"[1]", "SessionEnd": b"\xff\xfe"}),
        None,
    ],
    ids=["refusing", "failing", "redirecting", "slow", "garbage", "dead"],
)
def test_server_in_trouble_is_met_with_silence(server: HookServer | None, event: str) -> None:
    body = {**BODY, "hook_event_name": event}
    if server is None:
        done = hook("claude-code", event, body, CHIE_URL=DEAD)
    else:
        with server:
            done = hook("claude-code", event, body, CHIE_URL=server.url)
        assert server.calls
        server.closing.clear()
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


BODY = hook_body("user_prompt_submit")


@pytest.mark.req("ME-6")
@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["claude-code", "UserPromptSubmit"], b"not json"),
        (["claude-code", "UserPromptSubmit"], b"[]"),
        (["claude-code", "UserPromptSubmit"], b"\xff"),
        (["claude-code", "UserPromptSubmit"], b""),
        (["nobody", "UserPromptSubmit"], b"{}"),
        (["cursor", "no such event"], b"{}"),
    ],
)
def test_odd_input_is_met_with_silence(arguments: list[str], given: bytes) -> None:
    done = hook(arguments[0], arguments[1], given, CHIE_URL=DEAD)
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


@pytest.mark.req("ME-6")
def test_client_that_never_closes_standard_input_is_not_waited_for() -> None:
    command = [str(BIN / "chie"), "hook", "claude-code", "UserPromptSubmit"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(60) == 0
        assert process.stdout
        assert process.stdout.read() == b""


def test_only_a_few_modules_are_imported() -> None:
    """Counted in the process itself, after it has been answered."""
    code = """
import sys
before = set(sys.modules)
import os, chie.__main__, chie.hook.command
os._exit = lambda code: None
sys.argv = ["chie", "hook", "claude-code", "SessionStart"]
chie.__main__.sys.exit = lambda *_: None
try:
    chie.hook.command.main(sys.argv[2:])
finally:
    print("\\n".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
    with HookServer({"SessionStart": CONTEXT}) as server:
        env = {**os.environ, "CHIE_URL": server.url}
        body = json.dumps(hook_body("session_start")).encode()
        command = [sys.executable, "-I", "-S", "-c", SITE + code]
        done = subprocess.run(command, input=body, env=env, capture_output=True, check=True)
    assert json.loads(done.stdout) == CONTEXT
    loaded = {name for name in done.stderr.decode().split() if not name.startswith(("chie", "_", "encodings"))}
    assert {name.partition(".")[0] for name in loaded} - ALLOWED == set()


SITE = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2] / 'src')!r})\n"


def test_program_and_module_dispatch_hooks_before_importing_click() -> None:
    code = "import sys; sys.argv = ['chie', 'hook', 'claude-code', 'Stop']; import chie.__main__ as m\n"
    code += "import os; os._exit = lambda c: sys.exit('click' in sys.modules)\nm.main()"
    env = {**os.environ, "CHIE_URL": DEAD}
    subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, env=env, check=True)
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert '\nchie = "chie.__main__:main"\n' in text


def test_help_names_the_command() -> None:
    result = CliRunner().invoke(main, ["hook", "--help"])
    assert "chie connect CLIENT --memory" in result.output


@pytest.mark.req("ME-6")
@pytest.mark.parametrize(("locale", "language"), [("ja_JP.UTF-8", "ja"), ("en_US.UTF-8", "en"), ("", "en")])
def test_unreachable_server_is_named_once_until_it_was_reached(home: Path, locale: str, language: str) -> None:
    def start(url: str) -> dict[str, Any]:
        body = json.dumps(hook_body("session_start")).encode()
        env = {"CHIE_HOME": str(home), "CHIE_URL": url, "LANG": locale}
        printed: dict[str, Any] = json.loads(run("claude-code", "SessionStart", body, env) or "{}")
        return printed

    said = {"systemMessage": Message("hook.unreachable", url=DEAD).text("ja" if language == "ja" else "en")}
    assert start(DEAD) == said
    assert start(DEAD) == {}
    with HookServer({"SessionStart": CONTEXT}) as server:
        assert start(server.url) == CONTEXT
    assert start(DEAD) == said
    with HookServer(status=401) as server:
        refused = {
            "systemMessage": Message("hook.token_refused", url=server.url).text("ja" if language == "ja" else "en")
        }
        assert (start(server.url), start(server.url)) == (refused, {})


def test_home_that_cannot_be_written_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    body = json.dumps(hook_body("session_start")).encode()
    env = {"CHIE_HOME": str(tmp_path / "file"), "CHIE_URL": DEAD}
    assert run("claude-code", "SessionStart", body, env) == ""


def test_login_comes_from_the_environment_or_from_what_was_stored(home: Path) -> None:
    env = {"CHIE_HOME": str(home)}
    assert find_login(env) == ("http://127.0.0.1:8080", "")
    home.mkdir()
    (home / "login.json").write_text(json.dumps({"url": "https://chie.example/", "token": "stored"}))
    assert find_login(env) == ("https://chie.example", "stored")
    assert find_login({**env, "CHIE_TOKEN": "mine"}) == ("https://chie.example", "mine")
    assert find_login({**env, "CHIE_URL": "https://other.example"}) == ("https://other.example", "")
    (home / "login.json").write_text(json.dumps({"url": "https://chie.example", "token_env": "TEAM"}))
    assert find_login({**env, "TEAM": "named"}) == ("https://chie.example", "named")
    for broken in ("[]", "{", '{"url": 5}'):
        (home / "login.json").write_text(broken)
        assert find_login(env)[1] == ""


def test_home_is_the_one_of_all_other_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CHIE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert home_folder(os.environ) == str(user_data_path("chie", appauthor=False))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert home_folder(os.environ) == str(user_data_path("chie", appauthor=False))
    assert home_folder({"CHIE_HOME": "~/x"}) == str(Path("~/x").expanduser())
    assert home_folder({}, "darwin").endswith("Library/Application Support/chie")
    assert home_folder({"LOCALAPPDATA": "C:/data"}, "win32") == "C:/data/chie"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/hooks", ("http", "127.0.0.1", 8080, "/hooks")),
        ("https://chie.example", ("https", "chie.example", 443, "/")),
        ("http://[::1]:81/x", ("http", "::1", 81, "/x")),
        ("http://[::1]/x", ("http", "::1", 80, "/x")),
    ],
)
def test_url_is_split(url: str, expected: tuple[str, str, int, str]) -> None:
    assert split_url(url) == expected


@pytest.mark.parametrize("url", ["", "x", "ftp://x", "http://", "http://a:b/", "http://u:p@host/"])
def test_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(ResponseError):
        split_url(url)


GIT_CONFIG = """[core]
\tbare = false
[remote "upstream"]
\turl = https://git.example/up/stream.git
[remote "origin"]
\turl = https://aki:secret@git.example/team/project.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def test_remote_is_read_without_its_password(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(GIT_CONFIG)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    assert git_remote(str(tmp_path / "src" / "deep")) == "https://git.example/team/project.git"
    (tmp_path / ".git" / "config").write_text('[remote "other"]\nurl = git@git.example:team/other.git\n')
    assert git_remote(str(tmp_path)) == "git@git.example:team/other.git"


def test_worktree_has_the_remote_of_its_repository(tmp_path: Path) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (tmp_path / "main" / ".git" / "config").write_text(GIT_CONFIG)
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {own}\n")
    assert git_remote(str(tmp_path / "w")) == "https://git.example/team/project.git"
    assert git_remote(str(tmp_path / "nowhere")) is None
    (tmp_path / "w" / ".git").write_bytes(b"\xff")
    assert git_remote(str(tmp_path / "w")) is None


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    body = hook_body("post_tool_use_bash")
    body["tool_response"]["stdout"] = "begin" + "あ" * 500_000 + "the error"
    with HookServer() as server:
        run("claude-code", "PostToolUse", json.dumps(body).encode(), {"CHIE_URL": server.url})
    text = server.calls[0].body["tool_response"]["stdout"]
    assert text.startswith("begin")
    assert text.endswith("the error")
    assert len(json.dumps(server.calls[0].body)) < MAX_BODY_BYTES
