"""What the comparison asks of Git, through its command line."""

from __future__ import annotations

import os
import subprocess

from chie.anchors.names import repository_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

MAX_BLOB_BYTES = 4 * 1024 * 1024
SECONDS = 60.0  # for one command


class GitError(Exception):
    """Git is not installed, fails, or takes too long."""


class Repository:
    """The repository around a folder. Use as a context manager: one process of Git reads all files."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._reader: subprocess.Popen[bytes] | None = None
        self._renames: dict[tuple[str, str], dict[str, str]] = {}
        self._commits: dict[str, str | None] = {}

    @classmethod
    def around(cls, folder: str) -> Repository | None:
        found = _run(folder, "rev-parse", "--show-toplevel")
        return cls(found.decode("utf-8", "replace").rstrip("\r\n")) if found else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader.communicate()
            self._reader = None

    def names(self) -> list[str]:
        """By which notes may refer to this repository: its remotes, `origin` first, else its root commit."""
        lines = self._text("config", "--get-regexp", r"^remote\..*\.url$").splitlines()
        remotes = dict(line.split(" ", 1) for line in lines if " " in line)
        ordered = sorted(remotes, key=lambda key: key != "remote.origin.url")
        names = list(dict.fromkeys(filter(None, (repository_name(remotes[key]) for key in ordered))))
        return names or self._text("rev-list", "--max-parents=0", "HEAD").split()[-1:]

    def commit(self, name: str) -> str | None:
        """The full hash of a commit that exists here."""
        if name not in self._commits:
            found = "" if name.startswith("-") else self._text("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
            self._commits[name] = found.strip() or None
        return self._commits[name]

    def committed_at(self, commit: str) -> str:
        """In ISO 8601."""
        return self._text("show", "-s", "--format=%cI", commit).strip()

    def default_branch(self) -> str:
        """The commit that the team shares, if it can be told: that of the default branch of `origin`, else HEAD."""
        for name in ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"):
            if found := self.commit(name):
                return found
        return self.commit("HEAD") or ""

    def content(self, commit: str, path: str) -> bytes | None:
        """A file of a commit; None if there is none, or if it is too large to compare."""
        if "\n" in path:
            return None
        reader = self._started()
        if reader.stdin is None or reader.stdout is None:
            raise GitError
        try:
            reader.stdin.write(f"{commit}:{path}\n".encode("utf-8", "surrogateescape"))
            reader.stdin.flush()
            head = reader.stdout.readline().split()
            if len(head) < 3 or head[-2] not in (b"blob", b"tree", b"commit", b"tag") or not head[-1].isdigit():
                return None  # `… missing`
            size = int(head[-1])
            data = reader.stdout.read(size)
            reader.stdout.read(1)
        except OSError as error:
            raise GitError from error
        return data if head[-2] == b"blob" and size <= MAX_BLOB_BYTES else None

    def renamed(self, old: str, new: str, path: str) -> str | None:
        """The path in the commit `new` of a file of the commit `old` that was renamed."""
        key = (old, new)
        if key not in self._renames:
            listed = self._bytes("diff", "--no-ext-diff", "--name-status", "-z", "-M", "--diff-filter=R", old, new)
            parts = [part.decode("utf-8", "surrogateescape") for part in listed.split(b"\0")]
            self._renames[key] = {parts[at + 1]: parts[at + 2] for at in range(0, len(parts) - 2, 3)}
        return self._renames[key].get(path)

    def files_with(self, commit: str, line: bytes) -> list[str]:
        """The text files of a commit that contain this text."""
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            return []
        listed = self._bytes("grep", "-I", "-l", "-z", "-F", "-e", text, commit, "--")
        names = [part.decode("utf-8", "surrogateescape") for part in listed.split(b"\0") if part]
        return [name.partition(":")[2] for name in names]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._reader is None:
            try:
                self._reader = subprocess.Popen(  # noqa: S603 - Git, with our own arguments
                    _command(self.root, "cat-file", "--batch"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=_environment(),
                )
            except OSError as error:
                raise GitError from error
        return self._reader

    def _bytes(self, *arguments: str) -> bytes:
        return _run(self.root, *arguments) or b""

    def _text(self, *arguments: str) -> str:
        return self._bytes(*arguments).decode("utf-8", "replace")


def _run(folder: str, *arguments: str) -> bytes | None:
    """The output; None if Git reports an error, such as that there is no repository."""
    try:
        done = subprocess.run(  # noqa: S603 - Git, with our own arguments
            _command(folder, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError from error
    return done.stdout if done.returncode == 0 else None


def _command(folder: str, *arguments: str) -> list[str]:
    return ["git", "-C", folder, "-c", "core.quotepath=off", *arguments]


def _environment() -> dict[str, str]:
    """Nothing is fetched, locked or asked for. A hook of Git sets the variables that are left out."""
    given = {
        name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    }
    return {**given, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
