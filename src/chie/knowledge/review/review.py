"""The review: lists what needs somebody's decision, and carries decisions out."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge import rules, validation
from chie.knowledge.history.states import put_back, state_of
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
    UnansweredSearch,
)
from chie.knowledge.review.scan import Scan
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.review_records import ReviewRecords

MAX_PAGE = 100
DAYS_PER_MONTH = 30.44
DEFAULT_STALE_MONTHS = 6
_NOTHING_SEEN: Mapping[str, datetime] = {}
ACTIONS: dict[Kind, tuple[Action, ...]] = {
    "duplicate": ("keep", "merge", "supersede", "archive", "dismiss"),
    "contradiction": ("keep", "merge", "supersede", "archive", "dismiss"),
    "stale": ("keep", "archive", "dismiss"),
    "orphaned": ("keep", "archive", "dismiss"),
    "unanswered": ("dismiss",),
}


@dataclass(frozen=True, kw_only=True)
class ReviewPage:
    """`pending` is the number of visible notes that are still to be compared: there may be more findings."""

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
        left, notes = scan.advance(seconds), self._notes()
        if self._answered and rules.is_unlimited():
            self._answered.forget(notes.values(), self._service.viewer(), of_all=rules.is_admin())
        found = self._candidates(notes)
        chosen = [one for one in found if kind in (None, one.kind)]
        start, limit = _offset(cursor), min(validation.valid_limit(limit), MAX_PAGE)
        findings = [finding for one in chosen[start : start + limit] if (finding := self._finding(one))]
        end = start + limit
        return ReviewPage(
            findings=findings,
            counts=_counts(found),
            pending=len(left & notes.keys()),
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
        self,
        finding_id: str,
        action: Action,
        *,
        note_id: str | None = None,
        merged: Merged | None = None,
        seen: Mapping[str, datetime] = _NOTHING_SEEN,
    ) -> ReviewDecision:
        """`note_id` is the note to archive, or the one that the merged text goes into; without it, archiving and
        superseding take the older note, and merging keeps the newer one. `seen` is the `updated_at` of the notes that
        the caller has read, by id; it is a conflict if one has changed. Every decision is for users who may write where
        the notes are, because it settles the finding for all."""
        records, _ = self._required()
        candidate, finding = self._open(finding_id)
        if action not in ACTIONS[finding.kind]:
            raise ValidationError("knowledge.review_action_invalid", action=action, kind=finding.kind)
        user, viewer = known_user(), self._service.viewer()
        for note in finding.notes:
            rules.require_write(viewer, note.space)
            rules.require_version(note, seen.get(note.id))
        store = self._service.store
        states = {note.id: state_of(store, note) for note in finding.notes}
        changed = self._carry_out(finding, action, _chosen(finding, note_id), merged)
        before = [states[note.id] for note in changed]
        after = [state_of(store, left) for note in changed if (left := store.get(note.id))]
        decision = ReviewDecision(
            id=f"d-{token_hex(8)}",
            finding=finding.id,
            fingerprint=candidate.fingerprint,
            action=action,
            by=user.id,
            at=self._clock(),
            notes=list(states),
            before=before,
            after=after,
        )
        records.store_review_decision(decision)
        record("review.decided", finding.id)
        return decision

    def undo(self, decision_id: str) -> ReviewDecision:
        """Notes are as they were before, unless somebody has changed them since or deleted them for good. For users
        who might decide the same now."""
        records, _ = self._required()
        decision = records.review_decision(decision_id)
        user, viewer = known_user(), self._service.viewer()
        if decision is None or (decision.by != user.id and not rules.is_admin()):
            raise NotFoundError("knowledge.review_decision_not_found")
        action = decision.action

        def require(note: Note) -> None:
            if not viewer.sees(note):
                raise NotFoundError("knowledge.review_decision_not_found")
            if action == "keep":
                rules.require_write(viewer, note.space)
            else:
                rules.require_permission(note, viewer)

        self._require_write_to(decision)
        outdated = "knowledge.review_changed_since"
        for note in put_back(self._service, decision.before, decision.after, require=require, outdated=outdated):
            record("note.restored", note.id)
        records.forget_review_decision(decision.id)
        record("review.undone", decision.finding)
        return decision

    def _require_write_to(self, decision: ReviewDecision) -> None:
        """Where the notes of the finding are, as far as they exist: a decision may have changed none of them."""
        viewer = self._service.viewer()
        rules.require_any_write(viewer)
        for note_id in decision.notes:
            if note := self._service.store.get(note_id):
                rules.require_write(viewer, note.space)

    def _carry_out(self, finding: Finding, action: Action, chosen: Note | None, merged: Merged | None) -> list[Note]:
        """The notes that it changes, as they were before."""
        if action == "keep" and len(finding.notes) == 1:
            (note,) = finding.notes
            self._service.confirm(note.id, seen=note.updated_at)
            return [note]
        if action == "archive":
            note = chosen or finding.notes[0]
            self._service.delete(note.id, seen=note.updated_at)
            return [note]
        if action == "merge":
            return self._merge(finding, chosen or finding.notes[-1], merged)
        if action == "supersede":
            return self._supersede(finding, chosen or finding.notes[-1])
        return []

    def _merge(self, finding: Finding, target: Note, merged: Merged | None) -> list[Note]:
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
        return [target, other]

    def _supersede(self, finding: Finding, newer: Note) -> list[Note]:
        older = _other(finding, newer)
        for note in finding.notes:
            rules.require_permission(note, self._service.viewer())
        supersedes = [*newer.supersedes, older.id]
        self._service.update(newer.id, supersedes=supersedes, seen=newer.updated_at, by="person")
        return [newer]

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
            *map(of_search, self._unanswered(records)),
        ]
        waiting = [
            one for one in found if (one.id, one.fingerprint) not in dismissed and not self._is_decided(one, decided)
        ]
        return sorted(waiting, key=lambda one: KINDS.index(one.kind))

    def _unanswered(self, records: ReviewRecords) -> list[UnansweredSearch]:
        """One's own, or all for admins; they are no matter of a space."""
        if not rules.is_unlimited():
            return []
        return records.unanswered(None if rules.is_admin() else current_user().id)

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
