"""Validation and normalisation of anchors."""

import re
from pathlib import PurePosixPath

from chie.anchors.names import repository_name
from chie.errors import ValidationError
from chie.knowledge.anchors.anchor import Anchor

MAX_REPOSITORY = 300
MAX_PATH = 1_000
MAX_LINE = 10_000_000

_LINES = re.compile(r"^[Ll]?(?P<first>[0-9]{1,9})(?:\s*[-–]\s*[Ll]?(?P<last>[0-9]{1,9}))?$")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def valid_anchor(anchor: Anchor | None) -> Anchor | None:
    """None also for an anchor that is empty, which removes one."""
    if anchor is None or not (anchor.repository.strip() or anchor.path.strip()):
        return None
    return Anchor(
        repository=valid_repository(anchor.repository),
        path=_valid_path(anchor.path),
        lines=valid_lines(anchor.lines),
        commit=valid_commit(anchor.commit),
        fingerprint=valid_fingerprint(anchor.fingerprint),
    )


def valid_repository(repository: str) -> str:
    name = repository_name(repository)
    if not name or len(name) > MAX_REPOSITORY or _NOT_PRINTABLE.search(name) or " " in name:
        raise ValidationError("knowledge.anchor_repository_invalid")
    return name


def _valid_path(path: str) -> str:
    """Relative to the root of the repository, with `/`."""
    text = path.strip().replace("\\", "/").removeprefix("./")
    parts = PurePosixPath(text).parts
    outside = not parts or text.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", text)
    if outside or len(text) > MAX_PATH or _NOT_PRINTABLE.search(text):
        raise ValidationError("knowledge.anchor_path_invalid")
    return "/".join(parts)


def valid_lines(lines: str | None) -> str | None:
    """`10-20`, or `7` for one line."""
    if not lines or not lines.strip():
        return None
    match = _LINES.match(lines.strip())
    first = int(match["first"]) if match else 0
    last = int(match["last"] or first) if match else 0
    if not 1 <= first <= last <= MAX_LINE:
        raise ValidationError("knowledge.anchor_lines_invalid")
    return str(first) if first == last else f"{first}-{last}"


def valid_commit(commit: str | None) -> str | None:
    text = (commit or "").strip().lower()
    if text and not _COMMIT.fullmatch(text):
        raise ValidationError("knowledge.anchor_commit_invalid")
    return text or None


def valid_fingerprint(fingerprint: str | None) -> str | None:
    text = (fingerprint or "").strip().lower()
    if text and not _FINGERPRINT.fullmatch(text):
        raise ValidationError("knowledge.anchor_fingerprint_invalid")
    return text or None
