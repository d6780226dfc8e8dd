"""Questions and searches, and the API requests built from them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from chie.bedrock_kb.config import KBConfig, SearchType
from chie.bedrock_kb.errors import ValidationError
from chie.bedrock_kb.filters import Filter, check_filter, strings_in

DEFAULT_RESULTS = 4
MAX_RESULTS = 100

_SESSION = re.compile(r"[0-9a-zA-Z._:-]{2,100}")

Request = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Search:
    """A search within the API's limits; others cannot be constructed."""

    MAX_QUERY_LENGTH: ClassVar[int] = 20_000

    query: str
    max_results: int = DEFAULT_RESULTS
    filter: Filter | None = None
    search_type: SearchType | None = None

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValidationError("bedrock_kb.query_required")
        if len(self.query) > self.MAX_QUERY_LENGTH:
            raise ValidationError("bedrock_kb.query_too_long", length=len(self.query), limit=self.MAX_QUERY_LENGTH)
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise ValidationError("bedrock_kb.max_results_out_of_range", limit=MAX_RESULTS)
        if self.filter is not None:
            check_filter(self.filter)

    def texts(self) -> Iterator[str]:
        """Every string the caller sent; error messages must not repeat them."""
        yield self.query
        yield from strings_in(self.filter or {})


@dataclass(frozen=True, kw_only=True)
class Question(Search):
    """A search whose passages a model turns into an answer; `session_id` continues a conversation."""

    MAX_QUERY_LENGTH: ClassVar[int] = 1_000

    session_id: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.session_id is not None and not _SESSION.fullmatch(self.session_id):
            raise ValidationError("bedrock_kb.session_id_invalid")

    def texts(self) -> Iterator[str]:
        yield from super().texts()
        yield self.session_id or ""


def answer_request(config: KBConfig, question: Question) -> Request:
    """The request for `RetrieveAndGenerate` and `RetrieveAndGenerateStream`."""
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
    """The request for `Retrieve`. A managed knowledge base has its own configuration and chooses the search type."""
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
    passages = _retrieval(config, search)
    if search_type := search.search_type or config.search_type:
        passages["overrideSearchType"] = search_type
    return passages


def _managed_search(config: KBConfig, search: Search) -> Request:
    passages = _retrieval(config, search)
    if config.rerank_model_arn:
        passages["rerankingModelType"] = "CUSTOM"
    return passages


def _retrieval(config: KBConfig, search: Search) -> Request:
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
