"""Results as they are sent: by the tools to MCP clients, and by the API to the web page."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from chie.bedrock_kb.responses import Citation, KBResponse, Passage, Passages


@dataclass(frozen=True)
class AnswerResult:
    """An answer and its sources. `notice` is set when something about the answer is unusual."""

    answer: Annotated[str, Field(description="The answer that the model wrote from the knowledge base.")]
    citations: Annotated[list[Citation], Field(description="The passages that support the answer; empty if none does.")]
    session_id: Annotated[str | None, Field(description="For a follow-up question.")] = None
    notice: Annotated[str | None, Field(description="What is unusual about the answer.")] = None

    @classmethod
    def of(cls, response: KBResponse) -> "AnswerResult":
        return cls(response.answer, response.citations, response.session_id, _text(response))


@dataclass(frozen=True)
class SearchResult:
    """The passages that match a query, best first."""

    results: list[Passage]
    notice: str | None = None

    @classmethod
    def of(cls, passages: Passages) -> "SearchResult":
        return cls(passages.results, _text(passages))


@dataclass(frozen=True)
class PageAnswer(AnswerResult):
    """The answer with the code of its notice, which the page translates."""

    notice_code: str | None = None
    notice_params: dict[str, Any] | None = None

    @classmethod
    def of(cls, response: KBResponse) -> "PageAnswer":
        notice = response.notice
        return cls(
            response.answer,
            response.citations,
            response.session_id,
            _text(response),
            notice_code=notice.code if notice else None,
            notice_params=notice.json_params() if notice else None,
        )


def _text(response: KBResponse | Passages) -> str | None:
    return None if response.notice is None else str(response.notice)
