"""`chie notes touched` in a real repository, with a real server: the table, JSON, exit codes, what notes say then."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner, Result
from tests.anchors.repositories import commit, create, git
from tests.app.processes import http_server

from chie.anchors import background
from chie.cli import main
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("MT-4")

CODE = """import os


def limit():
    retries = 3
    delay = 10
    return retries, delay


def other():
    return 1
"""
TIMEOUT = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHIE_HOME", str(tmp_path_factory.mktemp("home")))
        with http_server("chie", "serve") as url:
            yield url


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CHIE_URL", server)
    return server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a remote of its own."""
    folder = tmp_path / "repository"
    create(folder, {"src/limits.py": CODE}, f"git@github.com:Org/{tmp_path.name}.git")
    return folder


def edit(folder: Path, old: str, new: str, name: str = "src/limits.py") -> str:
    file = folder / name
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return commit(folder)


def touched(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["notes", "touched", "--repository", str(folder), *options])


def listed(folder: Path, *options: str) -> list[dict[str, Any]]:
    done = touched(folder, "--json", *options)
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.output)
    return found


def save(url: str, folder: Path, **anchor: Any) -> str:
    given = {"repository": f"https://github.com/org/{folder.parent.name}", "path": "src/limits.py", "lines": "4-7"}
    given |= {"commit": git(folder, "rev-parse", "HEAD")} | anchor
    answer = httpx2.post(
        f"{url}/api/knowledge", json={"content": "再試行は 3 回まで", "anchor": given}, timeout=TIMEOUT
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def read(url: str, note_id: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx2.get(f"{url}/api/knowledge/{note_id}", timeout=TIMEOUT).json()
    return found


def test_the_life_of_an_anchor(url: str, folder: Path) -> None:
    note_id = save(url, folder)
    assert listed(folder) == []
    assert read(url, note_id)["anchor_report"]["state"] == "fresh"

    first = git(folder, "rev-parse", "HEAD")
    moved = edit(folder, "import os\n", "import os\nimport sys\n")
    assert listed(folder) == []
    [one] = listed(folder, "--since", first)
    assert (one["state"], one["detail"], one["lines"]) == ("fresh", "moved", "5-8")

    edit(folder, "retries = 3", "retries = 5")
    [one] = listed(folder, "--since", moved)
    assert (one["id"], one["state"], one["changed"], one["lines"]) == (note_id, "changed", 0.25, "5-8")
    report = read(url, note_id)["anchor_report"]
    assert (report["state"], report["changed"], report["commit"]) == ("changed", 0.25, git(folder, "rev-parse", "HEAD"))
    done = touched(folder, "--fail")
    assert done.exit_code == 1
    assert "25 % changed" in done.output
    assert listed(folder, "--since", "HEAD") == []

    httpx2.put(f"{url}/api/knowledge/{note_id}/confirmation", timeout=TIMEOUT)
    assert listed(folder) == []
    assert read(url, note_id)["anchor_report"]["state"] == "fresh"

    git(folder, "mv", "src/limits.py", "src/policy.py")
    commit(folder)
    assert listed(folder) == []
    assert read(url, note_id)["anchor_report"]["path"] == "src/policy.py"

    edit(folder, "    retries = 5\n    delay = 10\n", "        retries = 5\n        delay = 10\n", "src/policy.py")
    [one] = listed(folder)
    assert (one["state"], one["detail"], one["changed"]) == ("changed", "whitespace", 0.0)

    git(folder, "rm", "-q", "src/policy.py")
    commit(folder)
    [one] = listed(folder)
    assert (one["state"], one["detail"]) == ("gone", "file_deleted")
    assert httpx2.get(f"{url}/api/knowledge/anchors/changed", timeout=TIMEOUT).json()["notes"][0]["id"] == note_id


def test_what_cannot_be_proved_is_unknown(url: str, folder: Path) -> None:
    save(url, folder, commit="0123456789")
    save(url, folder, lines="400-500")
    save(url, folder, path="src/no.py")
    save(url, folder, commit=None)
    assert {(one["state"], one["detail"]) for one in listed(folder)} == {
        ("unknown", "commit_unknown"),
        ("unknown", "not_in_commit"),
    }
    assert touched(folder, "--fail").exit_code == 0


def test_code_that_moved_to_another_file_is_fresh_there(url: str, folder: Path) -> None:
    note_id = save(url, folder)
    block = "".join(CODE.splitlines(keepends=True)[3:7])
    (folder / "src" / "limits.py").write_text(CODE.replace(block, ""), encoding="utf-8")
    (folder / "src" / "retry.py").write_text(f"# retries\n{block}", encoding="utf-8")
    commit(folder)
    assert listed(folder) == []
    report = read(url, note_id)["anchor_report"]
    assert (report["state"], report["detail"], report["path"]) == ("fresh", "moved", "src/retry.py")
    assert report["lines"] == "2-5"


def test_whole_files_and_repositories_without_a_remote(url: str, folder: Path) -> None:
    git(folder, "remote", "remove", "origin")
    root = git(folder, "rev-list", "--max-parents=0", "HEAD")
    note_id = save(url, folder, repository=root, lines=None)
    assert listed(folder) == []
    edit(folder, "return 1", "return 2")
    [one] = listed(folder)
    assert (one["id"], one["state"], one["detail"]) == (note_id, "changed", "edited")


def test_a_dry_run_tells_nobody(url: str, folder: Path) -> None:
    note_id = save(url, folder)
    assert touched(folder, "--dry-run").exit_code == 0
    assert "anchor_report" not in read(url, note_id)
    other = folder.parent / "other"
    create(other, {})
    assert "No notes are anchored to this repository." in touched(other).output


def test_what_goes_wrong_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_URL", "http://127.0.0.1:9")
    for options, code, params in (
        ((), "anchors.unreachable", {"url": "http://127.0.0.1:9"}),
        (("--head", "nowhere"), "anchors.commit_not_found", {"commit": "nowhere"}),
        (("--since", "-x"), "anchors.commit_not_found", {"commit": "-x"}),
    ):
        done = touched(folder, *options)
        assert done.exit_code != 0
        assert str(Message(code, **params)).partition("`")[0] in done.output
    outside = CliRunner().invoke(main, ["notes", "touched", "--repository", "/"])
    assert str(Message("anchors.no_repository")) in outside.output


def test_a_check_in_the_background_happens_once_for_a_commit(
    url: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "home"))
    note_id = save(url, folder)
    assert background.run(str(folder)) == 1
    assert background.run(str(folder)) == 0
    assert read(url, note_id)["anchor_report"]["state"] == "fresh"
    edit(folder, "retries = 3", "retries = 4")
    assert background.run(str(folder)) == 1
    assert read(url, note_id)["anchor_report"]["state"] == "changed"
    assert background.run(str(tmp_path)) == 0
