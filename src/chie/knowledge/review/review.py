"""The review: lists what needs somebody's decision, and carries decisions out."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge import rules, validation
from chie.knowledge.note import Note, now
from chie.knowledge.review.answered import AnsweredSearches
from chie.knowledge.review.candidates import Candidate, code_changed, of_pair, of_search, orphaned, stale
from chie.knowledge.review.findings import (
    KINDS,
    Action,
    Finding,
    Kind,
    ReviewDecision,
    ReviewNote,
)
from chie.knowledge.review.scan import Scan
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.review_records import ReviewRecords

MAX_PAGE = 100
DAYS_PER_MONTH = 30.44
DEFAULT_STALE_MONTHS = 6
ACTIONS: dict[Kind, tuple[Action, ...]] = {
    "duplicate": ("keep", "merge", "supersede", "archive", "dismiss"),
    "contradiction": ("keep", "merge", "supersede", "archive", "dismiss"),
    "stale": ("keep", "archive", "dismiss"),
    "orphaned": ("keep", "archive", "dismiss"),
    "unanswered": ("dismiss",),
}


@dataclass(frozen=True, kw_only=True)
class ReviewPage:
    """`pending` is the number of notes that are still to be compared: there may be more findings."""

    findings: list[Finding]
    counts: dict[Kind, int]
    pending: int
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The text of the note that two notes become."""

    content: str
    title: str | None = None


class Review:
    def __init__(
        self,
        service: KnowledgeService,
        *,
        stale_months: int = DEFAULT_STALE_MONTHS,
        known_users: Callable[[], Collection[str] | None] = lambda: None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """`known_users` returns None where nobody can tell who is a user, so that no note is called orphaned."""
        self._service = service
        self._stale_after = timedelta(days=stale_months * DAYS_PER_MONTH)
        self._known_users = known_users
        self._clock = clock
        records = service.store.records
        self._records = records if isinstance(records, ReviewRecords) else None
        self._scan = Scan(service.store, self._records) if self._records else None
        self._answered = AnsweredSearches(service.store, self._records) if self._records else None

    def page(
        self, *, kind: Kind | None = None, limit: int = 20, cursor: str | None = None, seconds: float = 1.0
    ) -> ReviewPage:
        """Compares more notes for so many seconds first."""
        _, scan = self._required()
        pending, notes = scan.advance(seconds), self._notes()
        if self._answered:
            self._answered.forget(notes.values(), self._service.viewer(), of_all=current_user().admin)
        found = self._candidates(notes)
        chosen = [one for one in found if kind in (None, one.kind)]
        start, limit = _offset(cursor), min(validation.valid_limit(limit), MAX_PAGE)
        findings = [finding for one in chosen[start : start + limit] if (finding := self._finding(one))]
        end = start + limit
        return ReviewPage(
            findings=findings,
            counts=_counts(found),
            pending=pending,
            next_cursor=str(end) if end < len(chosen) else None,
        )

    def counts(self) -> dict[Kind, int]:
        """Of what is known without comparing more notes."""
        self._required()
        return _counts(self._candidates(self._notes()))

    def finding(self, finding_id: str) -> Finding:
        self._required()
        return self._open(finding_id)[1]

    def decide(
        self, finding_id: str, action: Action, *, note_id: str | None = None, merged: Merged | None = None
    ) -> ReviewDecision:
        """`note_id` is the note to archive, or the one that the merged text goes into; without it, archiving and
        superseding take the older note, and merging keeps the newer one."""
        records, _ = self._required()
        candidate, finding = self._open(finding_id)
        if action not in ACTIONS[finding.kind]:
            raise ValidationError("knowledge.review_action_invalid", action=action, kind=finding.kind)
        user = known_user()
        before, after = self._carry_out(finding, action, _chosen(finding, note_id), merged)
        decision = ReviewDecision(
            id=f"d-{token_hex(8)}",
            finding=finding.id,
            fingerprint=candidate.fingerprint,
            action=action,
            by=user.id,
            at=self._clock(),
            before=before,
            after=after,
        )
        records.store_review_decision(decision)
        record("review.decided", finding.id)
        return decision

    def undo(self, decision_id: str) -> ReviewDecision:
        """Notes are as they were before, unless somebody has changed them since."""
        records, _ = self._required()
        decision = records.review_decision(decision_id)
        user = known_user()
        if decision is None or (decision.by != user.id and not user.admin):
            raise NotFoundError("knowledge.review_decision_not_found")
        after = {note.id: note for note in decision.after}
        stored = {note.id: self._service.store.get(note.id) for note in decision.before}
        if any(stored[note.id] != after.get(note.id) for note in decision.before):
            raise ConflictError("knowledge.review_changed_since")
        for note in decision.before:
            self._put_back(note, stored[note.id])
        records.forget_review_decision(decision.id)
        record("review.undone", decision.finding)
        return decision

    def _put_back(self, note: Note, stored: Note | None) -> None:
        if stored is None:
            self._service.restore(note, secrets="allow")
        else:
            restored = replace(note, updated_at=self._service.next_version(stored))
            self._service.store.save(restored, replacing=stored, change=self._service.change("restored"))

    def _carry_out(
        self, finding: Finding, action: Action, chosen: Note | None, merged: Merged | None
    ) -> tuple[list[Note], list[Note]]:
        """The notes that it changes, before and after."""
        if action == "keep" and len(finding.notes) == 1:
            note = self._service.confirm(finding.notes[0].id)
            return finding.notes, [note]
        if action == "archive":
            note = chosen or finding.notes[0]
            self._service.delete(note.id)
            return [note], []
        if action == "merge":
            return self._merge(finding, chosen or finding.notes[-1], merged)
        if action == "supersede":
            return self._supersede(finding, chosen or finding.notes[-1])
        return [], []

    def _merge(self, finding: Finding, target: Note, merged: Merged | None) -> tuple[list[Note], list[Note]]:
        if merged is None:
            raise ValidationError("knowledge.review_merge_text_missing")
        other = _other(finding, target)
        for note in finding.notes:
            rules.require_permission(note, self._service.viewer())
        self._service.update(
            target.id,
            content=merged.content,
            title=merged.title,
            tags=[*target.tags, *other.tags][: validation.MAX_TAGS],
            questions=[*target.questions, *other.questions][: validation.MAX_QUESTIONS],
            errors=[*target.signatures, *other.signatures][: validation.MAX_ERRORS],
            absorbing=other,
            seen=target.updated_at,
            by="person",
        )
        return [target, other], [self._service.get(target.id)]

    def _supersede(self, finding: Finding, newer: Note) -> tuple[list[Note], list[Note]]:
        older = _other(finding, newer)
        for note in finding.notes:
            rules.require_permission(note, self._service.viewer())
        supersedes = [*newer.supersedes, older.id]
        self._service.update(newer.id, supersedes=supersedes, seen=newer.updated_at, by="person")
        return [newer], [self._service.get(newer.id)]

    def _required(self) -> tuple[ReviewRecords, Scan]:
        if self._records is None or self._scan is None:
            raise ConflictError("knowledge.review_unsupported")
        return self._records, self._scan

    def _open(self, finding_id: str) -> tuple[Candidate, Finding]:
        for candidate in self._candidates(self._notes()):
            if candidate.id == finding_id and (finding := self._finding(candidate)):
                return candidate, finding
        raise NotFoundError("knowledge.review_finding_not_found")

    def _notes(self) -> dict[str, ReviewNote]:
        return {note.id: note for note in self._service.store.review_notes(viewer=self._service.viewer())}

    def _candidates(self, notes: dict[str, ReviewNote]) -> list[Candidate]:
        """What the viewer may see and nobody has decided on, contradictions first."""
        records, _ = self._required()
        decided, dismissed = records.decided(), records.dismissed()
        found = [
            *(of_pair(pair, notes) for pair in records.pairs() if pair.a in notes and pair.b in notes),
            *stale(notes.values(), records.last_uses(), before=self._clock() - self._stale_after),
            *code_changed(self._service.store.changed_anchors(viewer=self._service.viewer(), limit=MAX_PAGE)),
            *orphaned(notes.values(), self._known_users()),
            *map(of_search, records.unanswered(None if current_user().admin else current_user().id)),
        ]
        waiting = [
            one for one in found if (one.id, one.fingerprint) not in dismissed and not self._is_decided(one, decided)
        ]
        return sorted(waiting, key=lambda one: KINDS.index(one.kind))

    def _is_decided(self, candidate: Candidate, decided: dict[tuple[str, str], datetime]) -> bool:
        """That a note is still right holds for as long as it may go unseen."""
        at = decided.get((candidate.id, candidate.fingerprint))
        if at is None:
            return False
        return candidate.kind != "stale" or at > self._clock() - self._stale_after

    def _finding(self, candidate: Candidate) -> Finding | None:
        found = [self._service.find(note) for note in candidate.notes]
        notes = [note for note in found if note is not None]
        if len(notes) < len(candidate.notes):
            return None
        return Finding(
            id=candidate.id,
            kind=candidate.kind,
            notes=notes,
            reason=candidate.reason,
            may_change=[self._may_change(note) for note in notes],
        )

    def _may_change(self, note: Note) -> bool:
        try:
            rules.require_permission(note, self._service.viewer())
        except (ForbiddenError, NotFoundError):
            return False
        return True


def _counts(found: Sequence[Candidate]) -> dict[Kind, int]:
    counts = Counter(one.kind for one in found)
    return {kind: counts[kind] for kind in KINDS}


def _chosen(finding: Finding, note_id: str | None) -> Note | None:
    if note_id is None:
        return None
    chosen = [note for note in finding.notes if note.id == note_id]
    if not chosen:
        raise ValidationError("knowledge.review_note_invalid")
    return chosen[0]


def _other(finding: Finding, note: Note) -> Note:
    return next(other for other in finding.notes if other.id != note.id)


def _offset(cursor: str | None) -> int:
    if not cursor:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise ValidationError("database.cursor_invalid")
    return int(cursor)
