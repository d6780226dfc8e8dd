"""One name for a Git repository, whichever way it was cloned."""

from __future__ import annotations

import re

_DRIVE = re.compile(r"[A-Za-z]:(?=[/\\]|$)")
_SCP = re.compile(r"(?:[^@/\s]*@)?(\[[^\]\s]*\]|[^:/\s\[\]]+):(?!//)(.*)", re.DOTALL)


def repository_name(url: str) -> str:
    """`git@github.com:Org/Repo.git` and `https://user:x@github.com/org/repo/?tab=x` are both `github.com/org/repo`.

    Users and ports are left out, because they differ between SSH and HTTPS. A path on this machine stays as it is,
    without `.git` at its end, and so does the hash of a root commit, which names a repository without a remote.
    """
    text = url.strip()
    scheme, found, rest = text.partition("://")
    if found and scheme.lower() == "file":
        return _path(rest[rest.find("/") :] if "/" in rest else rest)
    if not found and is_path(text):
        return _path(text)
    if found:
        host, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    elif scp := _SCP.fullmatch(text):
        host, path = scp.groups()
    else:
        host, _, path = re.split(r"[?#]", text, maxsplit=1)[0].partition("/")
    host = host.rpartition("@")[2]
    name, colon, port = host.rpartition(":")
    host = name if colon and port.isdigit() else host
    parts = [host, *(part for part in path.replace("\\", "/").split("/") if part)]
    return "/".join(parts).removesuffix(".git").lower()


def is_path(text: str) -> bool:
    """Whether this is the path of a folder, on Windows too."""
    return text.startswith(("/", "~", ".", "\\")) or bool(_DRIVE.match(text))


def folders_of(path: str) -> list[str]:
    """The names of a folder and of those around it, the inner one first."""
    if not is_path(path):
        return []
    parts = _path(path).split("/")
    return ["/".join(parts[:size]) or "/" for size in range(len(parts), 0, -1)]


def _path(text: str) -> str:
    """Upper and lower case are the same on Windows alone."""
    windows = bool(_DRIVE.match(text)) or text.startswith("\\")
    path = text.replace("\\", "/").lower() if windows else text
    return path.rstrip("/").removesuffix(".git") or "/"
