"""HTTP API of the inbox and of confirmations, part of `/api/knowledge`."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from chie.http.openapi_errors import errors
from chie.knowledge.inbox.inbox import Changes, Inbox, Proposal
from chie.knowledge.note import Note, Similar
from chie.knowledge.results import ReadNote, SaveResult
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.service import KnowledgeService


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Seen(Body):
    updated_at: datetime | None = Field(
        default=None, description="Of the proposal as it was read. If it has changed since, nothing is written (409)."
    )


class Acceptance(Seen):
    content: str | None = None
    title: str | None = None
    tags: list[str] | None = None
    questions: list[str] | None = None
    errors: list[str] | None = Field(default=None, description="Lines of errors, or signatures, that replace all.")
    secrets: SecretPolicy = "refuse"


class Merge(Seen):
    into: str = Field(description="Id of the note that takes the proposal in.")
    content: str = Field(description="The merged text.")
    title: str | None = None
    into_updated_at: datetime | None = Field(default=None, description="The same of the note that takes it in.")


class ReadProposal(BaseModel):
    note: ReadNote
    similar: list[Similar]

    @classmethod
    def of(cls, proposal: Proposal) -> "ReadProposal":
        return cls(note=ReadNote.of(proposal.note), similar=proposal.similar)


class ProposalList(BaseModel):
    proposals: list[ReadProposal]
    total: int


class ProposalCount(BaseModel):
    total: int


UpdatedAt = Annotated[
    datetime | None,
    Query(description="Of the note as it was read. If it has changed since, nothing is written (409)."),
]


def declare_inbox(router: APIRouter, service: KnowledgeService) -> None:
    """Before the routes of single notes, whose ids would match these paths."""
    inbox = Inbox(service)

    @router.get("/inbox", responses=errors())
    def list_proposals() -> ProposalList:
        """Proposals that wait for a decision, oldest first, with the notes that are similar."""
        return ProposalList(proposals=list(map(ReadProposal.of, inbox.proposals())), total=inbox.count())

    @router.get("/inbox/count", responses=errors())
    def count_proposals() -> ProposalCount:
        return ProposalCount(total=inbox.count())

    @router.post("/inbox/{note_id}/accept", responses=errors(404, 409, 413))
    def accept_proposal(note_id: str, body: Acceptance) -> Note:
        """Make the proposal a note, with the given changes."""
        return inbox.accept(note_id, Changes(**body.model_dump(exclude={"updated_at"})), seen=body.updated_at)

    @router.post("/inbox/{note_id}/merge", responses=errors(403, 404, 409, 413))
    def merge_proposal(note_id: str, body: Merge) -> SaveResult:
        """Write the merged text into an existing note, and remove the proposal."""
        saved = inbox.merge(
            note_id,
            body.into,
            content=body.content,
            title=body.title,
            seen=body.updated_at,
            seen_into=body.into_updated_at,
        )
        return SaveResult.of(saved)

    @router.post("/inbox/{note_id}/reject", responses=errors(403, 404, 409))
    def reject_proposal(note_id: str, body: Seen | None = None) -> Note:
        """Remove the proposal and return it."""
        return inbox.reject(note_id, seen=body.updated_at if body else None)

    @router.post("/inbox/{note_id}/undo", responses=errors(403, 404, 409))
    def undo_decision(note_id: str) -> Note:
        """Take back your last decision on a proposal, within a day: it waits again with its author and dates, and a
        note that it was merged into is as it was before. 409 if either has changed since."""
        return inbox.undo(note_id)

    @router.put("/{note_id}/confirmation", responses=errors(403, 404, 409))
    def confirm_note(note_id: str, updated_at: UpdatedAt = None) -> Note:
        """Say that the note is right."""
        return service.confirm(note_id, seen=updated_at)

    @router.delete("/{note_id}/confirmation", responses=errors(403, 404, 409))
    def withdraw_confirmation(note_id: str, updated_at: UpdatedAt = None) -> Note:
        return service.confirm(note_id, confirmed=False, seen=updated_at)
