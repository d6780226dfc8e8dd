"""HTTP API of earlier versions and of the trash, part of `/api/knowledge`."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathValue
from pydantic import BaseModel

from chie.http.openapi_errors import errors
from chie.knowledge.history.history import PAGE, History, Trashed, VersionPage
from chie.knowledge.note import Note
from chie.knowledge.results import ReadNote, SaveResult
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import MAX_LIMIT

Number = Annotated[int, PathValue(ge=1, le=2**31 - 2, description="Versions are counted from 1.")]
Below = Annotated[int | None, Query(ge=1, le=2**31 - 2, description="`next_below` of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum number of results.")]


class TrashList(BaseModel):
    notes: list[Trashed]
    days: int


class Purged(BaseModel):
    id: str
    purged: bool = True


def declare_history(router: APIRouter, service: KnowledgeService) -> None:
    """Before the routes of single notes, whose ids would match these paths."""
    history = History(service)
    _declare_trash(router, history, service.trash_days)

    @router.get("/{note_id}/history", responses=errors(404))
    def list_versions(note_id: str, below: Below = None, limit: Limit = PAGE) -> VersionPage:
        """The versions of a note without their text, latest first. Those that you could not read then are left out."""
        return history.versions(note_id, below=below, limit=limit)

    @router.get("/{note_id}/history/{version}", responses=errors(404))
    def read_version(note_id: str, version: Number) -> ReadNote:
        """The note as it was."""
        return ReadNote.of(history.version(note_id, version))

    @router.post("/{note_id}/history/{version}/restore", responses=errors(403, 404, 409))
    def restore_version(note_id: str, version: Number) -> SaveResult:
        """Make what the note said then its next version. Who may read it stays as it is now."""
        return SaveResult.of(history.restore_version(note_id, version))

    @router.delete("/{note_id}/history", responses=errors(403, 404))
    def delete_versions(note_id: str) -> Purged:
        """Delete all earlier versions for good, such as one with a secret. The note stays as it is."""
        history.forget(note_id)
        return Purged(id=note_id)


def _declare_trash(router: APIRouter, history: History, days: int) -> None:
    @router.get("/trash", responses=errors(404))
    def list_trash(limit: Limit = MAX_LIMIT) -> TrashList:
        """Deleted notes without their text, latest first."""
        return TrashList(notes=history.trash(limit=limit), days=days)

    @router.get("/trash/{note_id}", responses=errors(404))
    def read_trashed_note(note_id: str) -> ReadNote:
        """The note as it was when it was deleted."""
        return ReadNote.of(history.trashed(note_id))

    @router.post("/trash/{note_id}/restore", responses=errors(403, 404, 409))
    def restore_trashed_note(note_id: str) -> Note:
        """Restore the note with its id and dates."""
        return history.restore_trashed(note_id)

    @router.delete("/trash/{note_id}", responses=errors(403, 404))
    def purge_note(note_id: str) -> Purged:
        """Delete the note and all of its versions for good."""
        history.purge(note_id)
        return Purged(id=note_id)
