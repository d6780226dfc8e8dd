"""The room's HTTP edge, for the web page: declare, delegate, return. `house.py` puts it under /api/knowledge."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Annotated, Any

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from chie.errors import ValidationError
from chie.http.openapi_errors import errors
from chie.knowledge.atlas import Atlas, Map
from chie.knowledge.highlights import Ranges, highlight
from chie.knowledge.note import Hit, Note, Page, Saved, TagCount, now
from chie.knowledge.rules import MAX_LIMIT, good_moment
from chie.knowledge.samples import add_samples
from chie.knowledge.service import RELATED, KnowledgeService
from chie.knowledge.uploads import Received, Upload, receive, write_zip

CHUNK = 64 * 1024
IN_MEMORY = 8 * 1024 * 1024
ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "The notes.", "content": {"application/zip": {"schema": {"type": "string"}}}}
}

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many at the most.")]
Words = Annotated[str, Query(description="A question or a few words, in Japanese or English.")]
Tags = Annotated[list[str] | None, Query(description="Only notes that carry all of these.")]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before.")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class NewNote(Body):
    content: str
    title: str | None = None
    tags: list[str] = []
    source: str | None = None
    private: bool = Field(default=False, description="For your eyes alone; else it is the team's.")


class NoteChange(Body):
    content: str | None = None
    title: str | None = None
    tags: list[str] | None = None
    private: bool | None = None
    updated_at: datetime | None = Field(
        default=None, description="Of the note as it was read; if it has changed since, nothing is written (409)."
    )


class Highlights(BaseModel):
    """Ranges of characters (code points), half-open."""

    title: Ranges
    content: Ranges


class MarkedHit(BaseModel):
    hit: Hit
    highlights: Highlights


class MarkedHits(BaseModel):
    hits: list[MarkedHit]
    notice: str | None = None


class TagList(BaseModel):
    tags: list[TagCount]
    total: int = Field(description="Notes in all.")


class Related(BaseModel):
    notes: list[Hit]


class Added(BaseModel):
    ids: list[str]


def create_api(service: KnowledgeService) -> APIRouter:
    """Plain functions, which FastAPI runs in threads: the service waits for disk and model."""
    router = APIRouter()
    _declare_looking(router, service)
    _declare_exchange(router, service)
    _declare_notes(router, service)
    return router


def _declare_looking(router: APIRouter, service: KnowledgeService) -> None:
    atlas = Atlas(service.store)

    @router.get("/search", responses=errors())
    def search_notes(q: Words, limit: Limit = 20, tags: Tags = None) -> MarkedHits:
        """Best first, with the places that show why."""
        found = service.search(q, limit=limit, tags=tags)
        return MarkedHits(hits=[_marked(hit, q) for hit in found.hits], notice=found.notice)

    @router.get("/tags", responses=errors())
    def list_tags() -> TagList:
        """Every tag, the most used first."""
        return TagList(tags=list(service.tags()), total=service.count())

    @router.get("/map", responses=errors())
    def draw_map() -> Map:
        """All notes on a plane, near each other where they speak of the same; beyond 3,000 only the newest."""
        return atlas.map()

    @router.get("", responses=errors())
    def list_notes(tag: str | None = None, limit: Limit = 50, cursor: Cursor = None) -> Page:
        """Newest first, without their text."""
        return service.browse(tag=tag, limit=limit, cursor=cursor)


def _declare_exchange(router: APIRouter, service: KnowledgeService) -> None:
    @router.get("/export", response_class=StreamingResponse, responses={**ZIP, **errors()})
    def export_notes() -> StreamingResponse:
        """A zip with one Markdown file a note."""
        archive = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed when it has been sent
        write_zip(service, archive)
        archive.seek(0)
        headers = {"Content-Disposition": 'attachment; filename="chie-notes.zip"'}
        return StreamingResponse(_chunks(archive), media_type="application/zip", headers=headers)

    @router.post("/import", responses=errors(413))
    def import_notes(
        files: Annotated[list[UploadFile], File(description="Markdown files, or zips of them.")],
        modified: Annotated[
            list[datetime] | None, Form(description="When each file was last changed, in the order of the files.")
        ] = None,
        overwrite: Annotated[bool, Form(description="Also over notes that were changed here later.")] = False,
    ) -> Received:
        """Importing the same files again updates what has changed; a note that was changed here later is left alone."""
        return receive(service, _uploads(files, modified), overwrite=overwrite)

    @router.post("/samples", status_code=201, responses=errors())
    def add_sample_notes() -> Added:
        """A handful of notes in both languages, to try things with. Asking twice adds nothing."""
        return Added(ids=add_samples(service))


def _declare_notes(router: APIRouter, service: KnowledgeService) -> None:
    @router.post("", status_code=201, responses=errors(413))
    def create_note(body: NewNote) -> Saved:
        """Save a note; `similar` names those that say nearly the same."""
        return service.save(
            body.content,
            title=body.title,
            tags=body.tags,
            source=body.source,
            private=body.private,
            author_kind="person",
        )

    @router.get("/{note_id}", responses=errors(404))
    def read_note(note_id: str) -> Note:
        return service.get(note_id)

    @router.patch("/{note_id}", responses=errors(403, 404, 409, 413))
    def change_note(note_id: str, body: NoteChange) -> Saved:
        """What is not given stays as it is."""
        return service.update(
            note_id,
            content=body.content,
            title=body.title,
            tags=body.tags,
            private=body.private,
            seen=body.updated_at,
        )

    @router.delete("/{note_id}", responses=errors(403, 404, 409))
    def delete_note(note_id: str) -> Note:
        """The note that is now gone; PUT it to bring it back."""
        note = service.get(note_id)
        service.delete(note_id)
        return note

    @router.put("/{note_id}", responses=errors(403, 409, 413))
    def restore_note(note_id: str, body: Note) -> Note:
        """Bring a deleted note back with its id and dates; 409 if a note has that id."""
        if body.id != note_id:
            raise ValidationError("id must be the one in the path: send the note as DELETE gave it.")
        return service.restore(body)

    @router.get("/{note_id}/similar", responses=errors(404))
    def list_related(note_id: str, limit: Limit = RELATED) -> Related:
        """Other notes on the same matter, nearest first."""
        return Related(notes=service.related(note_id, limit=limit))


def _uploads(files: list[UploadFile], modified: list[datetime] | None) -> list[Upload]:
    """A clock that is ahead changes nothing later than now."""
    if modified is not None and len(modified) != len(files):
        raise ValidationError("modified must have one date for each file, in the order of the files, or be left out.")
    dates: Sequence[datetime | None] = [min(good_moment("modified", moment), now()) for moment in modified or ()]
    known = dates or [None] * len(files)
    return [Upload(file.filename or "note.md", file.file, at) for file, at in zip(files, known, strict=True)]


def _marked(hit: Hit, query: str) -> MarkedHit:
    return MarkedHit(
        hit=hit, highlights=Highlights(title=highlight(query, hit.title), content=highlight(query, hit.content))
    )


def _chunks(archive: IO[bytes]) -> Iterator[bytes]:
    with archive:
        while chunk := archive.read(CHUNK):
            yield chunk
