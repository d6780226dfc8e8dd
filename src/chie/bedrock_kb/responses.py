"""The responses of Bedrock's API, parsed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chie.messages.catalogue import Message

# The member of each location type that holds its URI.
URI_MEMBERS = {
    "s3Location": "uri",
    "webLocation": "url",
    "confluenceLocation": "url",
    "salesforceLocation": "url",
    "sharePointLocation": "url",
    "oneDriveLocation": "url",
    "googleDriveLocation": "url",
    "kendraDocumentLocation": "uri",
    "customDocumentLocation": "id",
}
SOURCE_URI = "x-amz-bedrock-kb-source-uri"
DESCRIPTION = "x-amz-bedrock-kb-description"


@dataclass(frozen=True)
class Span:
    """A part of the answer, as `answer[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True)
class Passage:
    """An excerpt of a source. `uri` opens the source (for a custom source, its id); `location` is Bedrock's own."""

    content: str
    location: dict[str, Any]
    score: float | None = None
    uri: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, str]:
        """Equal for the same passage of the same source in different calls."""
        return json.dumps(self.location, sort_keys=True), self.content


@dataclass(frozen=True)
class Citation(Passage):
    """A passage that supports the answer, with the parts of the answer it supports."""

    spans: list[Span] = field(default_factory=list)


@dataclass(frozen=True)
class KBResponse:
    """An answer and its sources. `notice` is set when something about the answer is unusual."""

    answer: str
    citations: list[Citation]
    session_id: str | None = None
    notice: Message | None = None


@dataclass(frozen=True)
class Passages:
    """The passages that match a query, best first."""

    results: list[Passage]
    notice: Message | None = None


def parse_answer(response: Mapping[str, Any]) -> KBResponse:
    """Parse `RetrieveAndGenerate`: one citation per reference, in the API's order."""
    answer = response.get("output", {}).get("text", "")
    return KBResponse(
        answer=answer,
        citations=[citation for part in response.get("citations", []) for citation in _cited(answer, part)],
        session_id=response.get("sessionId"),
        notice=_notice(response.get("guardrailAction")) or _empty_notice(answer),
    )


def parse_passages(response: Mapping[str, Any]) -> Passages:
    """Parse `Retrieve`."""
    results = [Passage(**_passage(result)) for result in response.get("retrievalResults", [])]
    return Passages(results, _notice(response.get("guardrailAction")))


def merge_citations(citations: Iterable[Citation]) -> list[Citation]:
    """Each passage once, with all its spans: Bedrock repeats a passage for every sentence it supports."""
    merged: dict[tuple[str, str], Citation] = {}
    for citation in citations:
        known = merged.setdefault(citation.identity, citation)
        new = [span for span in citation.spans if span not in known.spans]
        merged[citation.identity] = replace(known, spans=[*known.spans, *new])
    return list(merged.values())


def fill_scores(citations: Iterable[Citation], passages: Iterable[Passage]) -> list[Citation]:
    """Citations with the scores of a search for the same query; passages it did not find keep their score."""
    scores = {passage.identity: passage.score for passage in passages}
    return [replace(citation, score=scores.get(citation.identity, citation.score)) for citation in citations]


def _cited(answer: str, part: Mapping[str, Any]) -> list[Citation]:
    spans = _spans(answer, part.get("generatedResponsePart", {}).get("textResponsePart", {}))
    return [Citation(**_passage(reference), spans=spans) for reference in part.get("retrievedReferences", [])]


def _spans(answer: str, part: Mapping[str, Any]) -> list[Span]:
    """Located by text: Bedrock does not document the unit of its offsets, nor whether the end is inclusive."""
    span, text = part.get("span", {}), part.get("text")
    start = span.get("start", 0)
    if text:
        found = answer.find(text, start)
        found = answer.find(text) if found < 0 else found
        return [Span(found, found + len(text))] if found >= 0 else []
    end = min(span.get("end", 0), len(answer))
    return [Span(start, end)] if start < end else []


def _passage(reference: Mapping[str, Any]) -> dict[str, Any]:
    location, metadata = dict(reference.get("location", {})), dict(reference.get("metadata", {}))
    return {
        "content": _text(reference.get("content", {}), metadata),
        "location": location,
        "score": reference.get("score"),
        "uri": _uri(location, metadata),
        "metadata": {name: value for name, value in metadata.items() if not _is_data(value)},
    }


def _uri(location: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    for location_type, member in URI_MEMBERS.items():
        if found := location.get(location_type, {}).get(member):
            return str(found)
    source = metadata.get(SOURCE_URI)
    return source if isinstance(source, str) else None


def _text(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Text for every kind of content. Images, audio and video are described or named, never included as bytes."""
    text = content.get("text")
    if text and not _is_data(text):
        return str(text)
    if row := content.get("row"):
        return _row(row)
    described = (
        content.get("audio", {}).get("transcription"),
        content.get("video", {}).get("summary"),
        metadata.get(DESCRIPTION),
    )
    return next((str(description) for description in described if description), _name(content))


def _name(content: Mapping[str, Any]) -> str:
    kind = content.get("type") or ("IMAGE" if "byteContent" in content else "TEXT")
    return "" if kind == "TEXT" else f"({kind.lower()} without a text)"


def _row(columns: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{column.get('columnName', '?')}: {_cell(column)}" for column in columns)


def _cell(column: Mapping[str, Any]) -> str:
    match column.get("type"):
        case "BLOB":
            return "(binary)"
        case "NULL":
            return "null"
    return str(column.get("columnValue", ""))


def _is_data(value: object) -> bool:
    return isinstance(value, str) and value.startswith("data:") and ";base64," in value[:100]


def _notice(guardrail_action: str | None) -> Message | None:
    return Message("bedrock_kb.guardrail_intervened") if guardrail_action == "INTERVENED" else None


def _empty_notice(answer: str) -> Message | None:
    return None if answer.strip() else Message("bedrock_kb.answer_empty")
