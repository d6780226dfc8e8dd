"""The MCP server `mcp-bedrock-kb`: questions to the company's knowledge base."""

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp import Context
from mcp_types import ToolAnnotations
from pydantic import Field

from chie.bedrock_kb.citations import Found, KBResponse
from chie.bedrock_kb.config import KBConfig, SearchType, load_config
from chie.bedrock_kb.progress import Progress
from chie.bedrock_kb.requests import DEFAULT_RESULTS, MOST_RESULTS, Question, Search
from chie.bedrock_kb.service import KnowledgeBase
from chie.errors import ConfigurationError
from chie.mcp_kit.server import Server

if TYPE_CHECKING:
    from fastapi import APIRouter

NAME = "mcp-bedrock-kb"

INSTRUCTIONS = """\
The company's documents in an Amazon Bedrock Knowledge Base. kb_answer answers a question from them and says which \
passages the answer rests on: show the user their uri. kb_search gives the passages themselves, with scores."""

ASK = ToolAnnotations(title="Ask the knowledge base", read_only_hint=True, open_world_hint=True)
SEARCH = ToolAnnotations(title="Search the knowledge base", read_only_hint=True, open_world_hint=True)

Query = Annotated[str, Field(description="A question, best in the documents' language; at most 1,000 characters.")]
Words = Annotated[str, Field(description="What to look for: a question or a few words.")]
MaxResults = Annotated[int, Field(description="How many passages to search out, at the most.", ge=1, le=MOST_RESULTS)]
Filter = Annotated[
    dict[str, Any] | None,
    Field(
        description='Only sources whose metadata fits, as in {"equals": {"key": "team", "value": "infra"}}. Others: '
        "notEquals, greaterThan, greaterThanOrEquals, lessThan, lessThanOrEquals, in, notIn, startsWith, "
        "stringContains, listContains; andAll and orAll take a list of two filters or more."
    ),
]
Kind = Annotated[
    SearchType | None,
    Field(description="HYBRID searches by meaning and by words, SEMANTIC by meaning. Bedrock chooses if absent."),
]
SessionId = Annotated[str | None, Field(description="`session_id` of an earlier answer, to ask a follow-up question.")]


def create_server(config: KBConfig | None = None) -> Server:
    knowledge_base = KnowledgeBase(_checked(config or _configured()))
    server = Server(
        NAME,
        INSTRUCTIONS,
        check=knowledge_base.check,
        close=knowledge_base.close,
        error_fields={"code": None, "retryable": False, "request_id": None},
        reports_progress=True,
        api=lambda: _api(knowledge_base),
    )
    _declare(server, knowledge_base)
    return server


def _api(knowledge_base: KnowledgeBase) -> "APIRouter":
    from chie.bedrock_kb.api import create_api  # FastAPI is for the house alone

    return create_api(knowledge_base)


def _declare(server: Server, knowledge_base: KnowledgeBase) -> None:
    @server.declare(ASK)
    async def kb_answer(
        query: Query,
        ctx: Context,
        max_results: MaxResults = DEFAULT_RESULTS,
        session_id: SessionId = None,
        filter: Filter = None,  # noqa: A002
        search_type: Kind = None,
    ) -> KBResponse:
        """Ask the knowledge base a question; a model answers it from the documents, with citations.

        Each citation has the passage (`content`), where to open it (`uri`), its `metadata`, and in `spans` the parts
        of the answer it supports. `score` is null unless the operator turned scores on. No citations means that the
        documents do not say it: do not present such an answer as theirs.
        """
        question = Question(
            query=query, max_results=max_results, session_id=session_id, filter=filter, search_type=search_type
        )
        return await knowledge_base.answer(question, _progress(ctx))

    @server.declare(SEARCH)
    async def kb_search(
        query: Words,
        max_results: MaxResults = DEFAULT_RESULTS,
        filter: Filter = None,  # noqa: A002
        search_type: Kind = None,
    ) -> Found:
        """Find passages in the knowledge base, best first, without an answer written by a model.

        Cheaper and faster than kb_answer. `score` tells how near a passage is; compare it within one result only.
        """
        return await knowledge_base.search(
            Search(query=query, max_results=max_results, filter=filter, search_type=search_type)
        )


def _progress(ctx: Context) -> Progress | None:
    """Only for a client that asked to be told; the others get the plain call."""
    request = ctx.request_context
    if request is None or (request.meta or {}).get("progressToken") is None:
        return None
    return Progress(lambda step, message: ctx.report_progress(step, message=message))


def _configured() -> KBConfig:
    try:
        return load_config()
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _checked(config: KBConfig) -> KBConfig:
    if not re.fullmatch(r"[0-9a-zA-Z]{1,10}", config.kb_id):
        raise ConfigurationError(
            "not configured: BEDROCK_KB_ID is not the id of a knowledge base. Set it to the id that the Bedrock "
            "console shows, up to ten letters and digits; not to a name or an ARN."
        )
    if find_spec("boto3") is None:
        raise ConfigurationError("not configured: boto3 is missing. Install it with `pip install 'chie[bedrock]'`.")
    return config


if __name__ == "__main__":
    from chie.cli import mcp_bedrock_kb

    mcp_bedrock_kb()
