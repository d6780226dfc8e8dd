"""`fresh` on generated Git histories with moves, copies, re-indents, renames, edits, deletions: never a false one."""

import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.anchors import histories

from chie.anchors.check import check
from chie.anchors.git import Repository

DATE = "1767225600 +0000"
_branches = count()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    with Repository(str(folder)) as opened:
        yield opened


def git(folder: Path | str, *arguments: str, stdin: bytes = b"") -> bytes:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        ["git", "-C", folder, *arguments], input=stdin, stdout=subprocess.PIPE, check=True, env=env
    ).stdout


def committed(repository: Repository, states: list[dict[str, bytes]]) -> list[str]:
    """The hashes of commits with these files, one after the other, on a branch of their own."""
    branch = f"refs/heads/b{next(_branches)}"
    stream = b""
    for number, files in enumerate(states):
        stream += f"commit {branch}\nmark :{number + 1}\ncommitter a <a@b> {DATE}\ndata 1\nx\ndeleteall\n".encode()
        for path, content in files.items():
            stream += f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
    stream += b"".join(b"get-mark :%d\n" % (number + 1) for number in range(len(states)))
    return git(repository.root, "fast-import", "--quiet", "--cat-blob-fd=1", stdin=stream).decode().split()


@pytest.mark.req("MT-4")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories.shapes, histories.histories, st.integers(0, 13), st.integers(1, 5), st.integers(0, 4))
def test_no_false_fresh(
    repository: Repository,
    shape: list[list[int]],
    history: list[list[histories.Operation]],
    at: int,
    size: int,
    anchored_in: int,
) -> None:
    """Anchored in one of the commits, and compared with every later one."""
    world = histories.begin(shape)
    states = [world.snapshot()]
    contents = [world.contents()]
    for commit in history:
        for operation in commit:
            histories.apply(world, operation)
        states.append(world.snapshot())
        contents.append(world.contents())
    commits = committed(repository, contents)
    begin = anchored_in % len(states)
    before = states[begin]
    path = sorted(before)[at % len(before)]
    if not before[path]:
        return
    first = at % len(before[path]) + 1
    last = min(first + size - 1, len(before[path]))
    anchor = {"path": path, "lines": f"{first}-{last}", "commit": commits[begin]}
    for state, commit_hash in list(zip(states, commits, strict=True))[begin:]:
        found = check(repository, commit_hash, anchor)
        assert found["state"] in ("fresh", "changed", "gone", "unknown")
        if state == before:
            assert (found["state"], found["detail"]) == ("fresh", "same")
        if found["state"] == "fresh":
            claim = (found["path"], int(found["lines"].partition("-")[0]))
            assert histories.is_right(before, path, (first, last), state, claim), (found, before, state)
