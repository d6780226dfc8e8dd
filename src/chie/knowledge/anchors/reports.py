"""Use cases of anchors: which notes are about code of a repository, and what has become of it.

The server never sees a repository. `chie notes touched` and `chie hook` compare, where it is, and report the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chie.access.audit import record
from chie.access.identity import known_user
from chie.errors import ValidationError
from chie.knowledge import validation
from chie.knowledge.anchors.anchor import Anchor, AnchorDetail, AnchorReport, AnchorState
from chie.knowledge.anchors.validation import (
    valid_anchor,
    valid_commit,
    valid_fingerprint,
    valid_lines,
    valid_repository,
)
from chie.knowledge.note import Note, now
from chie.knowledge.service import KnowledgeService

MAX_RESULTS = 500


@dataclass(frozen=True, kw_only=True)
class AnchoredNote:
    """A note that is about code, and the last report on it."""

    id: str
    title: str
    anchor: Anchor
    report: AnchorReport | None = None


@dataclass(frozen=True, kw_only=True)
class Check:
    """The result for one note. `anchor` is the one that was compared; a note that has another by now is left alone."""

    id: str
    anchor: Anchor
    state: AnchorState
    detail: AnchorDetail
    changed: float | None = None
    path: str | None = None
    lines: str | None = None
    fingerprint: str | None = None


class AnchorReports:
    def __init__(self, service: KnowledgeService, *, clock: Callable[[], datetime] = now) -> None:
        self._store = service.store
        self._service = service
        self._clock = clock

    def anchored(self, repository: str, *, limit: int = validation.MAX_LIMIT, after: str = "") -> list[AnchoredNote]:
        """The notes about this repository that the current user may see, after the id `after`."""
        name, viewer = valid_repository(repository), self._service.viewer()
        notes = self._store.anchored(name, viewer=viewer, limit=validation.valid_limit(limit), after=after)
        reports = self._store.anchor_reports([note.id for note in notes]) if notes else {}
        return [_anchored(note, note.anchor, reports.get(note.id)) for note in notes if note.anchor]

    def changed(self, *, limit: int = validation.MAX_LIMIT) -> list[AnchoredNote]:
        """Notes whose code has changed or is gone, for review, the latest changes first."""
        found = self._store.changed_anchors(viewer=self._service.viewer(), limit=validation.valid_limit(limit))
        return [_anchored(note, note.anchor, report) for note, report in found if note.anchor]

    def report(self, commit: str, committed_at: datetime, checks: Sequence[Check]) -> int:
        """Store the results for a commit and return how many are about notes in spaces where the current user may
        write: everybody sees a report."""
        if len(checks) > MAX_RESULTS:
            raise ValidationError("knowledge.anchor_results_too_many", count=len(checks), limit=MAX_RESULTS)
        known = valid_commit(commit)
        if known is None:
            raise ValidationError("knowledge.anchor_commit_invalid")
        at = validation.valid_moment("committed_at", committed_at)
        at = min(at, self._clock())  # a wrong clock must not keep later reports out
        reports = {}
        for check in checks:
            note, anchor = self._writable(check.id), valid_anchor(check.anchor)
            if note and anchor and note.anchor == anchor:
                reports[note.id] = (anchor, self._report(check, anchor, known, at))
        if reports:
            self._store.report_anchors(reports)
            record("anchors.reported", known)
        return len(reports)

    def _writable(self, note_id: str) -> Note | None:
        note = self._service.find(note_id) if note_id and validation.is_plain(note_id) else None
        return note if note and note.space in self._service.viewer().writable else None

    def _report(self, check: Check, anchor: Anchor, commit: str, committed_at: datetime) -> AnchorReport:
        place = valid_anchor(replace(anchor, path=check.path, lines=check.lines)) if check.path else None
        return AnchorReport(
            state=check.state,
            detail=check.detail,
            changed=_share(check),
            path=place.path if place else None,
            lines=valid_lines(check.lines),
            fingerprint=valid_fingerprint(check.fingerprint),
            commit=commit,
            committed_at=committed_at,
            reported_by=known_user().id,
            reported_at=self._clock(),
        )


def _share(check: Check) -> float | None:
    if check.changed is None:
        return None
    if not 0 <= check.changed <= 1:
        raise ValidationError("knowledge.anchor_share_invalid")
    return round(check.changed, 4)


def _anchored(note: Note, anchor: Anchor, report: AnchorReport | None) -> AnchoredNote:
    return AnchoredNote(id=note.id, title=note.title, anchor=anchor, report=report)
