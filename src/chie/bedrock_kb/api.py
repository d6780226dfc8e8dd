"""The room's HTTP edge, for the web page: what is configured, and a question to try it with."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from chie.bedrock_kb.citations import KBResponse
from chie.bedrock_kb.requests import DEFAULT_RESULTS, MOST_RESULTS, Question
from chie.bedrock_kb.service import KnowledgeBase
from chie.http.openapi_errors import errors


class Ask(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    query: str
    max_results: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = DEFAULT_RESULTS


class Configuration(BaseModel):
    """What is set; nothing of it is secret."""

    knowledge_base: str
    region: str
    model: str


def create_api(knowledge_base: KnowledgeBase) -> APIRouter:
    router = APIRouter()
    config = knowledge_base.config

    @router.get("", responses=errors())
    async def show_configuration() -> Configuration:
        """Which knowledge base, where, and which model writes the answers."""
        return Configuration(knowledge_base=config.kb_id, region=config.aws_region, model=config.model_arn)

    @router.post("/ask", responses=errors(413))
    async def ask(body: Ask) -> KBResponse:
        """One question, answered with citations; it costs what a question costs."""
        return await knowledge_base.answer(Question(query=body.query, max_results=body.max_results))

    return router
