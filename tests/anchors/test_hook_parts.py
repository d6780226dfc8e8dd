"""What `chie hook` does for anchors: it completes those of saved notes, and checks all of them at a session's start."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.anchors.repositories import commit, create, git
from tests.fakes.hook_bodies import hook_body
from tests.fakes.hook_server import HookServer

from chie.anchors import background
from chie.anchors.compare import fingerprint
from chie.anchors.fill import filled_anchor
from chie.anchors.git import Repository
from chie.anchors.names import repository_name
from chie.hook.command import run

pytestmark = pytest.mark.req("MT-4")

FILES = {"src/app.py": "one = 1\ntwo = 2\nthree = 3\n"}
TWO = fingerprint([b"two = 2", b"three = 3"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    create(folder, FILES)
    return folder


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:Org/Repo.git", "github.com/org/repo"),
        ("https://user:secret@github.com/org/repo/", "github.com/org/repo"),
        ("ssh://git@github.com:22/org/repo.git", "github.com/org/repo"),
        ("https://git.example.com:8443/a/b/c.git", "git.example.com/a/b/c"),
        ("github.com/org/repo", "github.com/org/repo"),
        ("0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
        ("/srv/git/repo.git", "/srv/git/repo"),
        ("/srv/git/Repo.git/", "/srv/git/Repo"),
        ("file:///srv/git/Repo.git", "/srv/git/Repo"),
        ("~/repo", "~/repo"),
        ("../repo.git", "../repo"),
        (r"C:\Work\Repo", "c:/work/repo"),
        ("C:/Work/Repo.git", "c:/work/repo"),
        (r"\\server\share\repo", "//server/share/repo"),
        ("https://github.com/org/repo.git?x=1#readme", "github.com/org/repo"),
        ("https://[::1]:8443/org/repo.git", "[::1]/org/repo"),
        ("git@[::1]:org/repo.git", "[::1]/org/repo"),
        ("https://[x", "[x"),
        ("https://[x]:y@[/z", "[/z"),
        ("://", ""),
        ("", ""),
    ],
)
def test_one_name_for_a_repository(url: str, name: str) -> None:
    assert repository_name(url) == name
    assert repository_name(name) == name


def test_a_source_with_lines_becomes_an_anchor(folder: Path) -> None:
    head = git(folder, "rev-parse", "HEAD")
    expected = {"repository": "github.com/org/repo", "path": "src/app.py", "lines": "2-3", "fingerprint": TWO}
    for source in ("src/app.py:2-3", f"src/app.py:2-3@{head[:8]}", str(folder / "src" / "app.py") + ":2-3"):
        assert filled_anchor({"source": source}, str(folder)) == expected | {"commit": head}
    inside = {"source": "app.py:2-3"}
    assert filled_anchor(inside, str(folder / "src")) == expected | {"commit": head}
    given = {"anchor": {"repository": "x", "path": "src/app.py", "lines": "2-3"}}
    assert filled_anchor(given, str(folder / "src")) == expected | {"commit": head}


def test_a_file_with_changes_that_are_not_committed_has_no_commit(folder: Path) -> None:
    (folder / "src" / "app.py").write_text("zero = 0\n" + FILES["src/app.py"], encoding="utf-8")
    anchor = filled_anchor({"source": "src/app.py:3-4"}, str(folder))
    assert anchor == {"repository": "github.com/org/repo", "path": "src/app.py", "lines": "3-4", "fingerprint": TWO}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"source": "https://example.com:8080"},
        {"source": "src/app.py"},
        {"source": "src/no.py:1"},
        {"source": "src/app.py:2-9"},
        {"source": "../outside.py:1"},
        {"source": "see src/app.py:1"},
    ],
)
def test_other_sources_are_left_alone(folder: Path, arguments: dict[str, Any]) -> None:
    (folder.parent / "outside.py").write_text("x = 1\n", encoding="utf-8")
    assert filled_anchor(arguments, str(folder)) is None
    assert filled_anchor({"source": "a.py:1"}, str(folder.parent)) is None


def test_the_hook_of_a_saved_note_sends_the_anchor(folder: Path) -> None:
    body = hook_body("post_tool_use_save_knowledge", cwd=str(folder))
    body["tool_input"] = {"content": "x", "source": "src/app.py:2-3"}
    with HookServer({}) as server:
        run("claude-code", "PostToolUse", json.dumps(body).encode(), {"CHIE_URL": server.url})
    (call,) = server.calls
    assert call.body["code_anchor"]["fingerprint"] == TWO
    assert call.body["tool_input"] == body["tool_input"]


def test_a_session_start_leaves_a_check_behind_in_a_repository(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(background, "start", started.append)
    with HookServer({}) as server:
        for place in (folder, tmp_path):
            body = json.dumps(hook_body("session_start", cwd=str(place))).encode()
            run("claude-code", "SessionStart", body, {"CHIE_URL": server.url, "CHIE_HOME": str(tmp_path)})
    assert started == [str(folder)]


def test_the_shared_branch_is_checked_not_the_one_that_is_worked_on(folder: Path) -> None:
    shared = git(folder, "rev-parse", "HEAD")
    git(folder, "update-ref", "refs/remotes/origin/main", shared)
    mine = commit(folder)
    with Repository(str(folder)) as repository:
        assert repository.default_branch() == shared != mine
        git(folder, "update-ref", "-d", "refs/remotes/origin/main")
    with Repository(str(folder)) as repository:
        assert repository.default_branch() == mine
