"""The inbox: proposals of assistants wait here until somebody accepts, merges or rejects them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import NotFoundError
from chie.knowledge import validation
from chie.knowledge.history.states import put_back, state_of
from chie.knowledge.note import Note, Saved, Similar, now
from chie.knowledge.records import Decision
from chie.knowledge.rules import require_permission, require_version, require_write
from chie.knowledge.screening.screen import SecretPolicy, screened
from chie.knowledge.service import MAX_SIMILAR, KnowledgeService

MAX_LISTED = 100
UNDO_PERIOD = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A note that waits for a decision, and existing notes that are similar."""

    note: Note
    similar: list[Similar]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What to change of a proposal while it is accepted; None leaves a field as it is."""

    content: str | None = None
    title: str | None = None
    tags: Sequence[str] | None = None
    questions: Sequence[str] | None = None
    errors: Sequence[str] | None = None
    secrets: SecretPolicy = "refuse"


class Inbox:
    """Everybody who may save notes may decide. A private proposal is its author's alone.

    Decisions take the `updated_at` of the proposal that the caller has `seen`, and are a conflict if it has changed.
    """

    def __init__(self, service: KnowledgeService) -> None:
        self._service = service
        self._store = service.store

    def proposals(self, *, limit: int = MAX_LISTED) -> list[Proposal]:
        """Oldest first."""
        waiting = self._store.proposals(viewer=self._service.viewer(), limit=validation.valid_limit(limit))
        return [Proposal(note=note, similar=self._similar(note)) for note in waiting]

    def count(self) -> int:
        return self._store.count_proposals(viewer=self._service.viewer())

    def get(self, note_id: str) -> Note:
        note = self._store.get(validation.required_id(note_id))
        viewer = self._service.viewer()
        if note is None or not note.proposal or not viewer.may_decide(note):
            raise NotFoundError("knowledge.proposal_not_found")
        return note

    def _writable(self, note_id: str, seen: datetime | None) -> Note:
        note = self.get(note_id)
        require_write(self._service.viewer(), note.space)
        require_version(note, seen)
        return note

    def accept(self, note_id: str, changes: Changes | None = None, *, seen: datetime | None = None) -> Note:
        """The proposal becomes a note of its author, confirmed by the current user."""
        stored, user, changes = self._writable(note_id, seen), known_user(), changes or Changes()
        moment = self._service.next_version(stored)
        note = validation.changed(
            stored,
            content=changes.content,
            title=changes.title,
            tags=changes.tags,
            questions=changes.questions,
            errors=changes.errors,
            moment=moment,
        )
        note = replace(note, proposal=False, confirmed_by=user.id, confirmed_at=moment)
        note = screened(note, changes.secrets, stored=stored)
        decision = self._decision(stored)
        self._service.replace(stored, note)
        self._remember(replace(decision, result=state_of(self._store, note)))
        record("proposal.accepted", note.id)
        return note

    def merge(
        self,
        note_id: str,
        into: str,
        *,
        content: str,
        title: str | None = None,
        seen: datetime | None = None,
        seen_into: datetime | None = None,
    ) -> Saved:
        """Write the merged text into an existing note, which gets the proposal's tags, questions and errors too, and
        remove the proposal in the same transaction."""
        proposal, target = self._writable(note_id, seen), self._service.get(into)
        require_version(target, seen_into)
        decision = self._decision(proposal, target)
        saved = self._service.update(
            target.id,
            content=content,
            title=title,
            tags=[*target.tags, *proposal.tags][: validation.MAX_TAGS],
            questions=[*target.questions, *proposal.questions][: validation.MAX_QUESTIONS],
            errors=[*target.signatures, *proposal.signatures][: validation.MAX_ERRORS],
            absorbing=proposal,
            by="person",
            seen=target.updated_at,
        )
        merged = self._store.get(target.id)
        if merged is not None and merged.updated_at == saved.updated_at:
            self._remember(replace(decision, result=state_of(self._store, merged)))
        record("proposal.merged", proposal.id)
        return saved

    def reject(self, note_id: str, *, seen: datetime | None = None) -> Note:
        note = self._writable(note_id, seen)
        decision = self._decision(note)
        self._service.remove(note)
        self._remember(decision)
        record("proposal.rejected", note.id)
        return note

    def undo(self, note_id: str) -> Note:
        """Take back one's last decision on a proposal: it waits again as it was, and a note that it was merged into is
        as it was before. ConflictError if either has changed since, or was deleted for good."""
        decision = self._store.records.decision(validation.required_id(note_id))
        if decision is None or decision.by != current_user().id or decision.at < now() - UNDO_PERIOD:
            raise NotFoundError("knowledge.decision_not_found")
        viewer, target = self._service.viewer(), decision.target

        def require(note: Note) -> None:
            require_write(viewer, note.space)
            if target is not None and note.id == target.id:
                require_permission(note, viewer)

        proposal, *_ = put_back(
            self._service,
            [decision.proposal, *([target] if target else [])],
            [decision.result] if decision.result else [],
            require=require,
            outdated="knowledge.decision_outdated",
            kept=decision.kept,
        )
        self._store.records.forget_decision(proposal.id)
        record("proposal.reopened", proposal.id)
        return proposal

    def _decision(self, proposal: Note, target: Note | None = None) -> Decision:
        """On notes as they are before it."""
        before = [proposal, *([target] if target else [])]
        return Decision(
            proposal=state_of(self._store, proposal),
            by=current_user().id,
            at=now(),
            target=state_of(self._store, target) if target else None,
            kept=() if self._store.keeps_versions else tuple(before),
        )

    def _remember(self, decision: Decision) -> None:
        """Once it is carried out. A decision that lost against another must not replace that one."""
        self._store.records.remember_decision(decision, forget_before=decision.at - UNDO_PERIOD)

    def _similar(self, note: Note) -> list[Similar]:
        found = self._store.similar(note, limit=MAX_SIMILAR, viewer=self._service.viewer())
        return list(found)
