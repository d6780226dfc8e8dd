"""HTTP API of notes for the web page, mounted under `/api/knowledge`."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Annotated, Any

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from chie.errors import ValidationError
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.anchors.api import declare_anchors
from chie.knowledge.history.api import declare_history
from chie.knowledge.inbox.api import Body, UpdatedAt, declare_inbox
from chie.knowledge.links.api import declare_links
from chie.knowledge.markdown.uploads import ImportReport, Upload, receive, write_zip
from chie.knowledge.note import AuthorCount, Hit, Note, Page, Saved, TagCount, now
from chie.knowledge.results import ReadNote, SaveResult
from chie.knowledge.review.api import declare_review
from chie.knowledge.review.review import Review
from chie.knowledge.samples import add_samples
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.search.atlas import Atlas, Map
from chie.knowledge.search.marked_hits import MarkedHits, marked
from chie.knowledge.search.query import parse
from chie.knowledge.service import MAX_RELATED, KnowledgeService
from chie.knowledge.spaces.api import declare_spaces
from chie.knowledge.usefulness.api import declare_usefulness
from chie.knowledge.usefulness.usefulness import Usefulness
from chie.knowledge.validation import MAX_LIMIT, valid_moment
from chie.messages.catalogue import Message

CHUNK_BYTES = 64 * 1024
MAX_SPOOL_BYTES = 8 * 1024 * 1024
ZIP_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The notes.", "content": {"application/zip": {"schema": {"type": "string"}}}}
}

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum number of results.")]
Words = Annotated[str, Query(description="A question or a few words, in Japanese or English, with or without filters.")]
Tags = Annotated[list[str] | None, Query(description="Only notes that have all of these tags.")]
Within = Annotated[str | None, Query(description="Only notes in this space.")]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the previous page.")]
SECRETS = (
    "What to do if the text seems to hold secrets: refuse it, mask them, or allow them after the user has checked."
)
SUPERSEDES = "Ids of notes that this one replaces, and that you may change; searches leave them out."
At = Annotated[str | None, Query(description="Search what was known on this date, such as `2026-03-01`.")]


class NewNote(Body):
    content: str
    title: str | None = None
    tags: list[str] = Field(default=[])
    source: str | None = None
    space: str | None = Field(default=None, description="The space to save in; the team's if absent.")
    private: bool = Field(default=False, description="Visible only to you instead of the whole team.")
    secrets: SecretPolicy = Field(default="refuse", description=SECRETS)
    questions: list[str] = Field(default=[], description="Questions that the note answers, in other words.")
    errors: list[str] = Field(default=[], description="Lines of errors that the note explains.")
    anchor: Anchor | None = Field(default=None, description="The code that the note is about.")
    supersedes: list[str] = Field(default=[], description=SUPERSEDES)


class NoteChange(Body):
    content: str | None = None
    title: str | None = None
    tags: list[str] | None = None
    private: bool | None = None
    space: str | None = Field(default=None, description="Moves the note; you need to be able to write in both spaces.")
    questions: list[str] | None = None
    errors: list[str] | None = Field(default=None, description="Lines of errors, or signatures, that replace all.")
    anchor: Anchor | None = Field(default=None, description="The code that the note is about; empty texts remove it.")
    supersedes: list[str] | None = Field(default=None, description=SUPERSEDES)
    updated_at: datetime | None = Field(
        default=None, description="Of the note as it was read. If it has changed since, nothing is written (409)."
    )
    secrets: SecretPolicy = Field(default="refuse", description=SECRETS)


@dataclass(frozen=True, kw_only=True)
class PageSaveResult(SaveResult):
    """The result with the code of its notice, which the page translates."""

    notice_code: str | None = None
    notice_params: dict[str, Any] | None = None


class Imported(BaseModel):
    """`newer` are files whose notes were changed in Chie later and left alone. `refused` has the reason per file, with
    its code and parameters in `refused_code` and `refused_params`."""

    saved: int
    unchanged: int
    newer: list[str]
    refused: dict[str, str]
    refused_code: dict[str, str]
    refused_params: dict[str, dict[str, Any]]


class TagList(BaseModel):
    tags: list[TagCount]
    total: int = Field(description="Number of all notes.")


class AuthorList(BaseModel):
    authors: list[AuthorCount]


class Related(BaseModel):
    notes: list[Hit]


class Added(BaseModel):
    ids: list[str]


def create_api(
    service: KnowledgeService, review: Review | None = None, usefulness: Usefulness | None = None
) -> APIRouter:
    """Handlers are plain functions, which FastAPI runs in threads, because the service blocks on disk and model."""
    router, usefulness = Router(), usefulness or Usefulness(service)
    _declare_looking(router, service, usefulness)
    declare_usefulness(router, service, usefulness)
    _declare_exchange(router, service)
    declare_inbox(router, service)
    declare_history(router, service)
    declare_spaces(router, service)
    declare_review(router, review or Review(service))
    declare_anchors(router, service)
    declare_links(router, service)
    _declare_notes(router, service, usefulness)
    return router


def _declare_looking(router: APIRouter, service: KnowledgeService, usefulness: Usefulness) -> None:
    atlas = Atlas(service.store)

    @router.get("/search", responses=errors())
    def search_notes(q: Words, limit: Limit = 20, tags: Tags = None, space: Within = None, at: At = None) -> MarkedHits:
        """Best first, with the ranges that match."""
        found = service.search(q, limit=limit, tags=tags, space=space, at=at)
        parsed = parse(q)
        if at is None and parsed.at is None:
            usefulness.searched(q, found)
        return MarkedHits(hits=[marked(hit, parsed.text) for hit in found.hits], **_notice(found.notice))

    @router.get("/tags", responses=errors())
    def list_tags() -> TagList:
        """Every tag, the most used first."""
        return TagList(tags=list(service.tags()), total=service.count())

    @router.get("/authors", responses=errors())
    def list_authors() -> AuthorList:
        """Everybody who wrote a note, those with most notes first."""
        return AuthorList(authors=list(service.authors()))

    @router.get("/map", responses=errors())
    def draw_map() -> Map:
        """Notes on a plane, close together if their topics are; at most the newest 3,000."""
        return atlas.map()

    @router.get("", responses=errors())
    def list_notes(tag: str | None = None, limit: Limit = 50, cursor: Cursor = None, space: Within = None) -> Page:
        """Newest first, without their content."""
        return service.browse(tag=tag, limit=limit, cursor=cursor, space=space)


def _declare_exchange(router: APIRouter, service: KnowledgeService) -> None:
    @router.get("/export", response_class=StreamingResponse, responses={**ZIP_RESPONSE, **errors()})
    def export_notes() -> StreamingResponse:
        """A zip with one Markdown file per note."""
        archive = tempfile.SpooledTemporaryFile(max_size=MAX_SPOOL_BYTES)  # noqa: SIM115 - closed when it has been sent
        write_zip(service, archive)
        archive.seek(0)
        headers = {"Content-Disposition": 'attachment; filename="chie-notes.zip"'}
        return StreamingResponse(_chunks(archive), media_type="application/zip", headers=headers)

    @router.post("/import", responses=errors(404, 413))
    def import_notes(
        files: Annotated[list[UploadFile], File(description="Markdown files, or zips of them.")],
        modified: Annotated[
            list[datetime] | None, Form(description="Modification times, in the order of the files.")
        ] = None,
        overwrite: Annotated[bool, Form(description="Also replace notes that were changed in Chie later.")] = False,
        secrets: Annotated[SecretPolicy, Form(description=SECRETS)] = "refuse",
        space: Annotated[str | None, Form(description="The space of notes that are new or name none.")] = None,
    ) -> Imported:
        """Importing the same files again updates what has changed. Notes that were changed in Chie later are kept."""
        return _imported(receive(service, _uploads(files, modified), overwrite=overwrite, secrets=secrets, space=space))

    @router.post("/samples", status_code=201, responses=errors())
    def add_sample_notes() -> Added:
        """Add sample notes in both languages. Idempotent."""
        return Added(ids=add_samples(service))


def _declare_notes(router: APIRouter, service: KnowledgeService, usefulness: Usefulness) -> None:
    @router.post("", status_code=201, responses=errors(413))
    def create_note(body: NewNote) -> PageSaveResult:
        """Save a note; `similar` lists notes that say nearly the same."""
        saved = service.save(
            body.content,
            title=body.title,
            tags=body.tags,
            source=body.source,
            space=body.space,
            private=body.private,
            questions=body.questions,
            errors=body.errors,
            anchor=body.anchor,
            supersedes=body.supersedes,
            origin="person",
            secrets=body.secrets,
        )
        return _saved(saved)

    @router.get("/{note_id}", responses=errors(404))
    def read_note(note_id: str) -> ReadNote:
        """`flags` tell where the text seems to address a model, and `uses` how often it was used; absent if none."""
        return usefulness.read(note_id)

    @router.patch("/{note_id}", responses=errors(403, 404, 409, 413))
    def change_note(note_id: str, body: NoteChange) -> PageSaveResult:
        """Omitted fields stay as they are."""
        saved = service.update(
            note_id,
            content=body.content,
            title=body.title,
            tags=body.tags,
            private=body.private,
            space=body.space,
            questions=body.questions,
            errors=body.errors,
            anchor=body.anchor,
            supersedes=body.supersedes,
            seen=body.updated_at,
            secrets=body.secrets,
            by="person",
        )
        return _saved(saved)

    @router.delete("/{note_id}", responses=errors(403, 404, 409))
    def delete_note(note_id: str, updated_at: UpdatedAt = None) -> Note:
        """Move the note to the trash and return it; PUT it to restore it."""
        return service.delete(note_id, seen=updated_at)

    @router.put("/{note_id}", responses=errors(403, 409, 413))
    def restore_note(
        note_id: str, body: Note, secrets: Annotated[SecretPolicy, Query(description=SECRETS)] = "refuse"
    ) -> Note:
        """Restore a deleted note with its id and dates; 409 if the id is in use."""
        if body.id != note_id:
            raise ValidationError("knowledge.id_mismatch")
        return service.restore(body, secrets=secrets)

    @router.get("/{note_id}/similar", responses=errors(404))
    def list_related(note_id: str, limit: Limit = MAX_RELATED) -> Related:
        """Other notes on the same topic, nearest first."""
        return Related(notes=service.related(note_id, limit=limit))


def _uploads(files: list[UploadFile], modified: list[datetime] | None) -> list[Upload]:
    """Modification times in the future count as now."""
    if modified is not None and len(modified) != len(files):
        raise ValidationError("knowledge.modified_count_mismatch")
    dates: Sequence[datetime | None] = [min(valid_moment("modified", moment), now()) for moment in modified or ()]
    known = dates or [None] * len(files)
    return [Upload(file.filename or "note.md", file.file, at) for file, at in zip(files, known, strict=True)]


def _notice(message: Message | None) -> dict[str, Any]:
    if message is None:
        return {}
    return {"notice": str(message), "notice_code": message.code, "notice_params": message.json_params()}


def _saved(saved: Saved) -> PageSaveResult:
    return PageSaveResult(**(vars(saved) | _notice(saved.notice)))


def _imported(report: ImportReport) -> Imported:
    return Imported(
        saved=report.saved,
        unchanged=report.unchanged,
        newer=report.newer,
        refused={name: str(reason) for name, reason in report.refused.items()},
        refused_code={name: reason.code for name, reason in report.refused.items()},
        refused_params={name: reason.json_params() for name, reason in report.refused.items()},
    )


def _chunks(archive: IO[bytes]) -> Iterator[bytes]:
    with archive:
        while chunk := archive.read(CHUNK_BYTES):
            yield chunk
