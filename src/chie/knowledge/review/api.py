"""HTTP API of the review, part of `/api/knowledge`."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from chie.http.openapi_errors import errors
from chie.knowledge.inbox.api import Body
from chie.knowledge.results import ReadNote
from chie.knowledge.review.findings import Action, Finding, Kind, Reason, ReviewDecision
from chie.knowledge.review.review import MAX_PAGE, Merged, Review

SLICE_SECONDS = 1.0  # that a request spends on comparing notes that are new

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of findings.")]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the previous page.")]


class NewDecision(Body):
    finding: str = Field(description="Id of the finding.")
    action: Action
    note: str | None = Field(
        default=None,
        description="The note to archive (otherwise the older one), or the one that takes the merged text or replaces "
        "the other (otherwise the newer one).",
    )
    content: str | None = Field(default=None, description="The merged text.")
    title: str | None = Field(default=None, description="The merged note's title.")
    seen: dict[str, datetime] = Field(
        default_factory=dict,
        description="`updated_at` of the notes as they were read, by id. If one has changed since, nothing is written"
        " (409).",
    )


class ReadFinding(BaseModel):
    """Of two notes, the older one comes first. `may_change` says for each whether you may change it."""

    id: str
    kind: Kind
    reason: Reason
    notes: list[ReadNote]
    may_change: list[bool]

    @classmethod
    def of(cls, finding: Finding) -> "ReadFinding":
        notes = list(map(ReadNote.of, finding.notes))
        return cls(id=finding.id, kind=finding.kind, reason=finding.reason, notes=notes, may_change=finding.may_change)


class FindingList(BaseModel):
    findings: list[ReadFinding]
    counts: dict[Kind, int]
    pending: int = Field(description="Notes that are still to be compared; ask again to have it done.")
    next_cursor: str | None = None


class FindingCounts(BaseModel):
    counts: dict[Kind, int]
    total: int


class Decided(BaseModel):
    id: str = Field(description="To undo it.")
    finding: str
    action: Action

    @classmethod
    def of(cls, decision: ReviewDecision) -> "Decided":
        return cls(id=decision.id, finding=decision.finding, action=decision.action)


def declare_review(router: APIRouter, review: Review) -> None:
    """Before the routes of single notes, whose ids would match these paths."""

    @router.get("/review", responses=errors(409))
    def list_findings(kind: Kind | None = None, limit: Limit = 20, cursor: Cursor = None) -> FindingList:
        """Notes that repeat or contradict each other, are out of date or have no author, and unanswered searches.

        Each request first compares notes that are new or changed, for about a second.
        """
        page = review.page(kind=kind, limit=limit, cursor=cursor, seconds=SLICE_SECONDS)
        return FindingList(
            findings=list(map(ReadFinding.of, page.findings)),
            counts=page.counts,
            pending=page.pending,
            next_cursor=page.next_cursor,
        )

    @router.get("/review/count", responses=errors(409))
    def count_findings() -> FindingCounts:
        """Of what earlier requests have found."""
        counts = review.counts()
        return FindingCounts(counts=counts, total=sum(counts.values()))

    @router.post("/review/decisions", status_code=201, responses=errors(403, 404, 409, 413))
    def decide_finding(body: NewDecision) -> Decided:
        """Keep both notes, merge them, let one replace the other, archive one, or say that there is no problem."""
        merged = Merged(content=body.content, title=body.title) if body.content is not None else None
        return Decided.of(review.decide(body.finding, body.action, note_id=body.note, merged=merged, seen=body.seen))

    @router.delete("/review/decisions/{decision_id}", responses=errors(403, 404, 409))
    def undo_decision(decision_id: str) -> Decided:
        """The notes are as they were before, and the finding is open again."""
        return Decided.of(review.undo(decision_id))
