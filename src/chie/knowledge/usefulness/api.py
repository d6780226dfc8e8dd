"""HTTP API of how useful notes are, and of recorded searches, part of `/api/knowledge`."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from chie.access.identity import current_user
from chie.http.openapi_errors import errors
from chie.knowledge.records import Mark
from chie.knowledge.rules import require_unlimited
from chie.knowledge.service import KnowledgeService
from chie.knowledge.usefulness.usefulness import Usefulness

MAX_CITED = 50


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Cited(Body):
    notes: Annotated[list[str], Field(max_length=MAX_CITED, description="Ids of the notes that an answer cites.")]


class Marking(Body):
    mark: Mark | None = Field(description="Whether the note helped or is wrong; null takes that back.")


class Marked(BaseModel):
    """`uses` has how often the note was shown, opened, cited, recalled, followed, and marked helpful or wrong."""

    uses: dict[str, int]
    mark: Mark | None


class Agreement(Body):
    recording: bool


class Recording(BaseModel):
    """Whether your searches that end in a note are kept for `chie eval`, and how many there are."""

    recording: bool
    searches: int


def declare_usefulness(router: APIRouter, service: KnowledgeService, usefulness: Usefulness) -> None:
    """Before the routes of single notes, whose ids would match these paths."""
    records = service.store.records

    @router.post("/cited", status_code=204, responses=errors())
    def count_citations(body: Cited) -> None:
        """Count the notes that an answer cites."""
        usefulness.cited(body.notes)

    @router.put("/{note_id}/mark", responses=errors(404))
    def mark_note(note_id: str, body: Marking) -> Marked:
        """Say that a note helped or is wrong."""
        usefulness.mark(note_id, body.mark)
        return Marked(uses=usefulness.uses(note_id), mark=body.mark)

    @router.get("/recording", responses=errors(403))
    def read_recording() -> Recording:
        require_unlimited()
        user = current_user().id
        return Recording(recording=records.records_searches(user), searches=len(records.searches(user)))

    @router.put("/recording", responses=errors(403))
    def change_recording(body: Agreement) -> Recording:
        """Agree that your searches are kept, for you alone. Withdrawing deletes them."""
        require_unlimited()
        records.agree(current_user().id, recording=body.recording)
        return read_recording()
