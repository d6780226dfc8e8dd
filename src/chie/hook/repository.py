"""The URL of the Git repository that a session works in, read from its configuration without running Git."""

from __future__ import annotations

import os


def git_remote(folder: str) -> str | None:
    """The URL of `origin`, else of the first remote, without user name and password."""
    try:
        config = _config(folder)
        urls = _remotes(_text(config)) if config else {}
    except (OSError, UnicodeDecodeError):
        return None
    url = urls.get("origin") or next(iter(urls.values()), None)
    return without_user(url) if url else None


def without_user(url: str) -> str:
    scheme, found, rest = url.partition("://")
    if not found:
        return url  # `git@host:path` has no password
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


def _config(folder: str) -> str | None:
    """The configuration file of the repository around the folder; a worktree shares that of its repository."""
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return os.path.join(git, "config")
        if os.path.isfile(git):
            own = os.path.join(folder, _text(git).removeprefix("gitdir:").strip())
            shared = os.path.join(own, "commondir")
            common = os.path.join(own, _text(shared).strip()) if os.path.isfile(shared) else own
            return os.path.join(common, "config")
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _remotes(config: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = None
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            name = text[9:].partition('"')[0] if text.startswith('[remote "') else None
        elif name is not None:
            key, equals, value = text.partition("=")
            if equals and key.strip().lower() == "url":
                found.setdefault(name, value.strip())
    return found


def _text(file: str) -> str:
    with open(file, encoding="utf-8") as content:
        return content.read(65536)
