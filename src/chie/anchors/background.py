"""Checks the notes about a repository in a process of its own, which a session's start leaves behind.

`python -m chie.anchors.background FOLDER`: silent, and only if the repository has a commit that was not checked yet.
"""

from __future__ import annotations

import json
import os
import sys
from threading import Timer

from chie.anchors.client import Refused, Server, checked
from chie.anchors.git import GitError, Repository
from chie.hook.http import ResponseError
from chie.hook.login import find_login, home_folder

FILE = "checked-anchors.json"
MAX_SECONDS = 60.0
TIMEOUT_SECONDS = 5.0
MAX_REMEMBERED = 200  # repositories


def start(folder: str) -> None:
    """Start it without waiting for it. `subprocess` takes longer to import than the rest of the hook."""
    arguments = [sys.executable, "-m", "chie.anchors.background", folder]
    if hasattr(os, "posix_spawn"):
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        os.posix_spawn(sys.executable, arguments, os.environ, file_actions=null, setsid=True)
    else:
        os.spawnv(os.P_DETACH, sys.executable, arguments)  # type: ignore[attr-defined, unused-ignore] # noqa: S606


def run(folder: str) -> int:
    """The number of stored results."""
    opened = Repository.around(folder)
    if opened is None:
        return 0
    with opened as repository:
        head = repository.default_branch()
        url, token = find_login(os.environ)
        file = os.path.join(home_folder(os.environ), FILE)
        key = f"{url} {repository.root}"
        done = _read(file)
        if not head or done.get(key) == head:
            return 0
        server = Server(url, token, TIMEOUT_SECONDS)
        notes = [note for name in repository.names() for note in server.anchored(name)]
        stored = server.report(head, repository.committed_at(head), checked(repository, head, notes)) if notes else 0
    done.pop(key, None)
    _write(file, {**dict(list(done.items())[1 - MAX_REMEMBERED :]), key: head})
    return stored


def _read(file: str) -> dict[str, str]:
    try:
        with open(file, encoding="utf-8") as opened:
            found = json.load(opened)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: str, done: dict[str, str]) -> None:
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    draft = f"{file}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as opened:
        json.dump(done, opened)
    os.replace(draft, file)


def main() -> None:
    limit = Timer(MAX_SECONDS, os._exit, (1,))
    limit.daemon = True
    limit.start()
    try:
        run(sys.argv[1])
    except (GitError, OSError, ResponseError, Refused, ValueError, KeyError):
        sys.exit(1)


if __name__ == "__main__":
    main()
