"""HTTP API of anchors to code, part of `/api/knowledge`."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from chie.http.openapi_errors import errors
from chie.knowledge.anchors.reports import AnchoredNote, AnchorReports, Check
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import MAX_LIMIT

Repository = Annotated[str, Query(description="`github.com/org/repo`, a URL of it, or the hash of its root commit.")]
After = Annotated[str, Query(description="The last id of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum number of results.")]


class Results(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    commit: str = Field(description="The commit that the code was compared with.")
    committed_at: datetime = Field(description="Its date. A stored report on a later commit is kept.")
    checks: list[Check]


class AnchoredNotes(BaseModel):
    notes: list[AnchoredNote]


class Stored(BaseModel):
    stored: int = Field(description="The number of results that are about notes in spaces where you may write.")


def declare_anchors(router: APIRouter, service: KnowledgeService) -> None:
    """Before the routes of single notes, whose ids would match these paths."""
    anchors = AnchorReports(service)

    @router.get("/anchors", responses=errors())
    def list_anchored_notes(repository: Repository, limit: Limit = MAX_LIMIT, after: After = "") -> AnchoredNotes:
        """Notes about code of a repository, in the order of ids; fewer than `limit` are the last page."""
        return AnchoredNotes(notes=anchors.anchored(repository, limit=limit, after=after))

    @router.get("/anchors/changed", responses=errors())
    def list_changed_anchors(limit: Limit = MAX_LIMIT) -> AnchoredNotes:
        """Notes whose code has changed or is gone, the latest changes first."""
        return AnchoredNotes(notes=anchors.changed(limit=limit))

    @router.post("/anchors", responses=errors(413))
    def report_anchors(body: Results) -> Stored:
        """Report what has become of anchored code in a commit, as `chie notes touched` does."""
        return Stored(stored=anchors.report(body.commit, body.committed_at, body.checks))
