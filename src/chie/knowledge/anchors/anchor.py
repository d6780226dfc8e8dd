"""Anchors: the code that a note is about, and what has become of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import Field

from chie.anchors.names import repository_name

AnchorState = Literal["fresh", "changed", "gone", "unknown"]
"""`fresh`: the anchored lines are still the same, perhaps elsewhere. `unknown`: nobody has checked, or it is unsure."""

AnchorDetail = Literal[
    "same",
    "moved",
    "edited",
    "whitespace",
    "deleted",
    "file_deleted",
    "duplicated",
    "commit_unknown",
    "not_in_commit",
    "unsure",
]
"""Why the state is what it is. `whitespace`: only indentation or blanks have changed, which may change the meaning."""

_LINES = r"[0-9]+(?:-[0-9]+)?"
_COMMIT = r"[0-9a-fA-F]{7,64}"
_PERMALINK = re.compile(
    rf"^https?://(?P<repository>[^/\s]+/[^\s#?]+?)/(?:-/)?blob/(?P<commit>{_COMMIT})/(?P<path>[^\s#?]+)"
    r"(?:\?[^#]*)?(?:#L(?P<first>[0-9]+)(?:C[0-9]+)?(?:-L?(?P<last>[0-9]+)(?:C[0-9]+)?)?)?$"
)
_SOURCE = re.compile(rf"^(?P<path>[^\s:@]+?):(?P<lines>{_LINES})(?:@(?P<commit>{_COMMIT}))?$")


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """`lines` of a file, such as `10-20` or `7`, in a commit of a repository; without `lines`, the whole file.

    `repository` is `github.com/org/repo`, or the hash of the root commit if there is no remote. `fingerprint` is that
    of the lines: it can prove that they are the same without the commit.
    """

    repository: Annotated[str, Field(description="`github.com/org/repo`, or the URL of the remote.")]
    path: Annotated[str, Field(description="Of the file, from the root of the repository.")]
    lines: Annotated[str | None, Field(description="`10-20` or `7`; absent for the whole file.")] = None
    commit: Annotated[str | None, Field(description="Whose lines these are: the hash of HEAD.")] = None
    fingerprint: Annotated[str | None, Field(description="SHA-256 of the lines; hooks fill it in.")] = None


StoredAnchor = Annotated[
    Anchor | None, Field(description="The code that the note is about.", exclude_if=lambda anchor: anchor is None)
]
"""Absent if there is none."""


@dataclass(frozen=True, kw_only=True)
class AnchorReport:
    """The state of a note's anchor in a later commit. `changed` is the share of its lines, `path` and `lines` are
    where the code is in that commit, if it is anywhere."""

    state: AnchorState
    detail: AnchorDetail
    changed: float | None = None
    path: str | None = None
    lines: str | None = None
    fingerprint: str | None = None
    commit: str
    committed_at: datetime
    reported_by: str
    reported_at: datetime

    @property
    def needs_review(self) -> bool:
        return self.state in ("changed", "gone")


def followed(anchor: Anchor, report: AnchorReport) -> Anchor | None:
    """The anchor for somebody who has read the code in the commit of the report; None if the code is gone. Where it is
    unsure what has become of the code, the anchor stays."""
    if report.state == "gone":
        return None
    if report.path is None or report.state == "unknown":
        return anchor
    return Anchor(
        repository=anchor.repository,
        path=report.path,
        lines=report.lines if anchor.lines else None,
        commit=report.commit,
        fingerprint=report.fingerprint,
    )


def permalink_anchor(source: str | None) -> Anchor | None:
    """The anchor of a link to lines of a commit, as GitHub and GitLab make them."""
    match = _PERMALINK.match((source or "").strip())
    if match is None:
        return None
    first, last = match["first"], match["last"]
    return Anchor(
        repository=repository_name(match["repository"]),
        path=unquote(match["path"]),
        lines=f"{first}-{last}" if last else first,
        commit=match["commit"],
    )


def parse_source(source: str | None) -> tuple[str, str, str | None] | None:
    """Path, lines and commit of a source like `src/app.py:10-20@3f2a9c1`; None for any other source."""
    match = _SOURCE.match((source or "").strip())
    if match is None or "//" in match["path"]:
        return None
    return match["path"], match["lines"], match["commit"]


def encode(value: Anchor | AnchorReport) -> str:
    """JSON, the same for equal values."""
    fields = {name: field for name, field in asdict(value).items() if field is not None}
    fields |= {name: field.isoformat() for name, field in fields.items() if isinstance(field, datetime)}
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def decode_anchor(stored: str | Mapping[str, Any] | None) -> Anchor | None:
    """None also for an empty text."""
    fields = json.loads(stored) if stored and isinstance(stored, str) else stored
    return Anchor(**fields) if isinstance(fields, Mapping) else None


def decode_report(stored: str | Mapping[str, Any]) -> AnchorReport:
    fields = dict(json.loads(stored) if isinstance(stored, str) else stored)
    fields |= {name: datetime.fromisoformat(fields[name]) for name in ("committed_at", "reported_at")}
    return AnchorReport(**fields)
