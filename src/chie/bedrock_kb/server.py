"""The MCP server `mcp-bedrock-kb`: answers from an Amazon Bedrock knowledge base."""

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp import Context
from mcp_types import ToolAnnotations
from pydantic import Field

from chie.bedrock_kb.config import KBConfig, SearchType, ToolName, load_config
from chie.bedrock_kb.errors import ConfigurationError
from chie.bedrock_kb.progress import Progress
from chie.bedrock_kb.requests import DEFAULT_RESULTS, MAX_RESULTS, Question, Search
from chie.bedrock_kb.schemas import AnswerResult, SearchResult
from chie.bedrock_kb.service import KnowledgeBase
from chie.installation.commands import install_extra
from chie.mcp_kit.server import Server

if TYPE_CHECKING:
    from fastapi import APIRouter

Functions = Mapping[ToolName, Callable[..., Any]]

NAME = "mcp-bedrock-kb"

INSTRUCTIONS = "The company's documents in an Amazon Bedrock Knowledge Base."
INSTRUCTIONS_BY_TOOL: Mapping[ToolName, str] = {
    "kb_answer": "kb_answer answers a question from them and cites the passages that support the answer: show the user "
    "their uri.",
    "kb_search": "kb_search returns the passages themselves, with scores.",
}
TOOLS: tuple[ToolName, ...] = tuple(INSTRUCTIONS_BY_TOOL)
STAND_ALONE_TOOLS: tuple[ToolName, ...] = ("kb_answer",)

ANNOTATIONS: Mapping[ToolName, ToolAnnotations] = {
    "kb_answer": ToolAnnotations(title="Ask the knowledge base", read_only_hint=True, open_world_hint=True),
    "kb_search": ToolAnnotations(title="Search the knowledge base", read_only_hint=True, open_world_hint=True),
}

Query = Annotated[
    str, Field(description="A question, preferably in the documents' language; at most 1,000 characters.")
]
SearchQuery = Annotated[str, Field(description="A question or a few keywords.")]
MaxResults = Annotated[int, Field(description="Maximum number of passages.", ge=1, le=MAX_RESULTS)]
Filter = Annotated[
    dict[str, Any] | None,
    Field(
        description='Only sources whose metadata matches, e.g. {"equals": {"key": "team", "value": "infra"}}. Others: '
        "notEquals, greaterThan, greaterThanOrEquals, lessThan, lessThanOrEquals, in, notIn, startsWith, "
        "stringContains, listContains; andAll and orAll take a list of two or more filters."
    ),
]
SearchTypeOption = Annotated[
    SearchType | None,
    Field(description="HYBRID: semantic and keyword search; SEMANTIC: semantic only. Bedrock chooses if absent."),
]
SessionId = Annotated[str | None, Field(description="`session_id` of an earlier answer, to ask a follow-up question.")]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """`mcp`, the stand-alone server, and its tool `kb_answer`, for `fastmcp run` and programs that import them.

    They are built on first access: an import must be cheap, and needs no configuration.
    """
    if name not in ("mcp", "kb_answer"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    knowledge_base = _knowledge_base()
    functions = _functions(knowledge_base)
    globals().update(mcp=_server(knowledge_base, functions, STAND_ALONE_TOOLS), kb_answer=functions["kb_answer"])
    return globals()[name]


def create_server(config: KBConfig | None = None, default_tools: tuple[ToolName, ...] = TOOLS) -> Server:
    """The server with the tools that the configuration names, otherwise with `default_tools`."""
    knowledge_base = _knowledge_base(config)
    return _server(knowledge_base, _functions(knowledge_base), default_tools)


def create_stand_alone_server() -> Server:
    return create_server(default_tools=STAND_ALONE_TOOLS)


def _knowledge_base(config: KBConfig | None = None) -> KnowledgeBase:
    return KnowledgeBase(_checked(config or load_config()))


def _server(knowledge_base: KnowledgeBase, functions: Functions, default_tools: tuple[ToolName, ...]) -> Server:
    tools = knowledge_base.config.tools or default_tools
    server = Server(
        NAME,
        " ".join([INSTRUCTIONS, *(INSTRUCTIONS_BY_TOOL[tool] for tool in tools)]),
        check=knowledge_base.check,
        close=knowledge_base.close,
        error_fields={"aws_code": None, "retryable": False, "request_id": None},
        reports_progress=True,
        api=lambda: _api(knowledge_base),
    )
    for tool in tools:
        server.declare(ANNOTATIONS[tool])(functions[tool])
    return server


def _api(knowledge_base: KnowledgeBase) -> "APIRouter":
    from chie.bedrock_kb.api import create_api  # FastAPI is loaded only by `chie serve`

    return create_api(knowledge_base)


def _functions(knowledge_base: KnowledgeBase) -> Functions:
    async def kb_answer(
        query: Query,
        max_results: MaxResults = DEFAULT_RESULTS,
        session_id: SessionId = None,
        filter: Filter = None,  # noqa: A002
        search_type: SearchTypeOption = None,
        ctx: Context | None = None,
    ) -> AnswerResult:
        """Ask the knowledge base a question; a model answers it from the documents, with citations.

        Each citation has the passage (`content`), the `uri` to open it, its `metadata`, and in `spans` the parts of
        the answer it supports. `score` is the relevance; compare it only within one result. An answer without
        citations is not supported by the documents: do not present it as theirs.
        """
        question = Question(
            query=query, max_results=max_results, session_id=session_id, filter=filter, search_type=search_type
        )
        return AnswerResult.of(await knowledge_base.answer(question, _progress(ctx)))

    async def kb_search(
        query: SearchQuery,
        max_results: MaxResults = DEFAULT_RESULTS,
        filter: Filter = None,  # noqa: A002
        search_type: SearchTypeOption = None,
    ) -> SearchResult:
        """Find passages in the knowledge base, best first, without generating an answer.

        Cheaper and faster than kb_answer. `score` is the relevance; compare it only within one result.
        """
        search = Search(query=query, max_results=max_results, filter=filter, search_type=search_type)
        return SearchResult.of(await knowledge_base.search(search))

    return {"kb_answer": kb_answer, "kb_search": kb_search}


def _progress(ctx: Context | None) -> Progress | None:
    """Progress only for a client that sent a progress token; other calls are not streamed."""
    request = ctx.request_context if ctx else None
    if ctx is None or request is None or (request.meta or {}).get("progressToken") is None:
        return None
    return Progress(lambda step, message: ctx.report_progress(step, message=message))


def _checked(config: KBConfig) -> KBConfig:
    if not re.fullmatch(r"[0-9a-zA-Z]{1,10}", config.kb_id):
        raise ConfigurationError("bedrock_kb.id_invalid")
    if find_spec("boto3") is None:
        raise ConfigurationError("bedrock_kb.sdk_missing", command=install_extra("bedrock"))
    return config


if __name__ == "__main__":
    from chie.cli import mcp_bedrock_kb

    mcp_bedrock_kb()
