"""Hits with the ranges that match, as the page shows them."""

from typing import Any

from pydantic import BaseModel

from chie.knowledge.note import Hit
from chie.knowledge.results import ReadHit
from chie.knowledge.search.highlights import Ranges, highlight


class Highlights(BaseModel):
    """Half-open ranges of characters (code points)."""

    title: Ranges
    content: Ranges


class MarkedHit(BaseModel):
    hit: ReadHit
    highlights: Highlights


class MarkedHits(BaseModel):
    """`notice` is English text, which the page translates by code and parameters."""

    hits: list[MarkedHit]
    notice: str | None = None
    notice_code: str | None = None
    notice_params: dict[str, Any] | None = None


def marked(hit: Hit, query: str) -> MarkedHit:
    return MarkedHit(
        hit=ReadHit.of(hit),
        highlights=Highlights(title=highlight(query, hit.title), content=highlight(query, hit.content)),
    )
