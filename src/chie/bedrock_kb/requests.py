"""What is asked of a knowledge base, and the API requests it becomes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from chie.bedrock_kb.config import KBConfig, SearchType
from chie.bedrock_kb.errors import ValidationError
from chie.bedrock_kb.filters import Filter, check_filter, strings_in

DEFAULT_RESULTS = 4
MOST_RESULTS = 100

_SESSION = re.compile(r"[0-9a-zA-Z._:-]{2,100}")

Request = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Search:
    """A search that Bedrock can carry out: one that it would refuse cannot be made."""

    LONGEST: ClassVar[int] = 20_000

    query: str
    max_results: int = DEFAULT_RESULTS
    filter: Filter | None = None
    search_type: SearchType | None = None

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValidationError("query is required: ask a question in a sentence or a few words")
        if len(self.query) > self.LONGEST:
            raise ValidationError(
                f"query is too long: {len(self.query):,} characters, at most {self.LONGEST:,}. Ask more briefly."
            )
        if not 1 <= self.max_results <= MOST_RESULTS:
            raise ValidationError(f"max_results must be between 1 and {MOST_RESULTS}")
        if self.filter is not None:
            check_filter(self.filter)

    def words(self) -> Iterator[str]:
        """Every text the caller sent, for keeping it out of messages."""
        yield self.query
        yield from strings_in(self.filter or {})


@dataclass(frozen=True, kw_only=True)
class Question(Search):
    """A search whose passages a model turns into an answer; `session_id` continues a conversation."""

    LONGEST: ClassVar[int] = 1_000

    session_id: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.session_id is not None and not _SESSION.fullmatch(self.session_id):
            raise ValidationError(
                "session_id is not one of Bedrock's: pass the session_id of an earlier answer, or leave it out"
            )

    def words(self) -> Iterator[str]:
        yield from super().words()
        yield self.session_id or ""


def answer_request(config: KBConfig, question: Question) -> Request:
    """Of `RetrieveAndGenerate` and `RetrieveAndGenerateStream`."""
    knowledge_base: Request = {
        "knowledgeBaseId": config.kb_id,
        "modelArn": config.model_arn,
        "retrievalConfiguration": {"vectorSearchConfiguration": _vector_search(config, question)},
    }
    if guardrail := _guardrail(config):
        knowledge_base["generationConfiguration"] = {"guardrailConfiguration": guardrail}
    request: Request = {
        "input": {"text": question.query},
        "retrieveAndGenerateConfiguration": {
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": knowledge_base,
        },
    }
    if question.session_id is not None:
        request["sessionId"] = question.session_id
    return request


def search_request(config: KBConfig, search: Search, *, managed: bool = False) -> Request:
    """Of `Retrieve`. A managed knowledge base takes a configuration of its own, and chooses the search itself."""
    configuration = (
        {"managedSearchConfiguration": _managed_search(config, search)}
        if managed
        else {"vectorSearchConfiguration": _vector_search(config, search)}
    )
    request: Request = {
        "knowledgeBaseId": config.kb_id,
        "retrievalQuery": {"text": search.query},
        "retrievalConfiguration": configuration,
    }
    if guardrail := _guardrail(config):
        request["guardrailConfiguration"] = guardrail
    return request


def _vector_search(config: KBConfig, search: Search) -> Request:
    passages = _passages(config, search)
    if search_type := search.search_type or config.search_type:
        passages["overrideSearchType"] = search_type
    return passages


def _managed_search(config: KBConfig, search: Search) -> Request:
    passages = _passages(config, search)
    if config.rerank_model_arn:
        passages["rerankingModelType"] = "CUSTOM"
    return passages


def _passages(config: KBConfig, search: Search) -> Request:
    passages: Request = {"numberOfResults": search.max_results}
    if search.filter is not None:
        passages["filter"] = search.filter
    if config.rerank_model_arn:
        passages["rerankingConfiguration"] = {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "modelConfiguration": {"modelArn": config.rerank_model_arn},
                "numberOfRerankedResults": search.max_results,
            },
        }
    return passages


def _guardrail(config: KBConfig) -> Request | None:
    if config.guardrail_id is None:
        return None
    return {"guardrailId": config.guardrail_id, "guardrailVersion": config.guardrail_version}
