"""The anchor of a note that a session has just saved, from its files: commit and fingerprint of the lines it names."""

from __future__ import annotations

import os

from chie.anchors.check import span_of
from chie.anchors.compare import fingerprint, split_lines
from chie.anchors.git import MAX_BLOB_BYTES, GitError, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]


def filled_anchor(arguments: Json, folder: str) -> Json | None:
    """From the arguments of `save_knowledge`: their anchor, or a source like `src/app.py:10-20`.

    The commit is that of HEAD if the file is as committed there. If it is not, the fingerprint alone can tell later.
    """
    given = arguments.get("anchor")
    path, lines = _named(given if isinstance(given, dict) else {}, str(arguments.get("source") or ""))
    if not path:
        return None
    try:
        opened = Repository.around(folder)
        if opened is None:
            return None
        with opened as repository:
            return _anchor(repository, os.path.join(folder, path), path, lines)
    except (GitError, OSError, ValueError):
        return None


def _named(anchor: Json, source: str) -> tuple[str, str]:
    if anchor.get("path"):
        return str(anchor["path"]), str(anchor.get("lines") or "")
    path, _, rest = source.strip().rpartition(":")
    lines = rest.partition("@")[0]
    is_file = bool(path) and span_of(lines) is not None and " " not in path and "//" not in path
    return (path, lines) if is_file else ("", "")


def _anchor(repository: Repository, file: str, path: str, lines: str) -> Json | None:
    root = os.path.realpath(repository.root)
    places = (os.path.realpath(file), os.path.realpath(os.path.join(root, path)))  # from the folder, or from the root
    place = next((one for one in places if os.path.isfile(one) and one.startswith(root + os.sep)), None)
    names = repository.names()
    if place is None or not names or os.path.getsize(place) > MAX_BLOB_BYTES:
        return None
    with open(place, "rb") as opened:
        content = opened.read()
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    found, span = split_lines(content), span_of(lines)
    first, last = span or (1, len(found))
    if not 1 <= first <= last <= len(found):
        return None
    anchor: Json = {"repository": names[0], "path": inside, "fingerprint": fingerprint(found[first - 1 : last])}
    if span:
        anchor["lines"] = str(first) if first == last else f"{first}-{last}"
    head = repository.commit("HEAD")
    committed = repository.content(head, inside) if head else None
    if head and committed is not None and split_lines(committed) == found:
        anchor["commit"] = head
    return anchor
