"""One name for a Git repository, whichever way it was cloned."""

from __future__ import annotations


def repository_name(url: str) -> str:
    """`git@github.com:Org/Repo.git` and `https://user:x@github.com/org/repo/` are both `github.com/org/repo`.

    Ports are left out, because they differ between SSH and HTTPS. A root commit's hash, the name of a repository
    without a remote, stays as it is.
    """
    text = url.strip().replace("\\", "/")
    scheme, found, rest = text.partition("://")
    if found:
        host, _, path = rest.partition("/")
    else:
        host, colon, path = text.partition(":")
        if not colon or "/" in host:  # a plain name, or a path on this machine
            host, _, path = text.partition("/")
    host = host.rpartition("@")[2]
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit():
        host = name
    if scheme == "file":
        host = ""
    parts = [host, *(part for part in path.split("/") if part)]
    return "/".join(parts).removesuffix(".git").lower()
