"""HTTP routes for the web page: the configuration, and a question to test it with."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from chie.bedrock_kb.requests import DEFAULT_RESULTS, MAX_RESULTS, Question
from chie.bedrock_kb.schemas import PageAnswer
from chie.bedrock_kb.service import KnowledgeBase
from chie.http.openapi_errors import errors
from chie.http.routing import Router


class Ask(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    query: str
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS


class Configuration(BaseModel):
    """The configuration, which contains no secrets."""

    knowledge_base: str
    region: str
    model: str


def create_api(knowledge_base: KnowledgeBase) -> APIRouter:
    router = Router()
    config = knowledge_base.config

    @router.get("", responses=errors())
    async def show_configuration() -> Configuration:
        """The knowledge base, its region, and the model that writes the answers."""
        return Configuration(knowledge_base=config.kb_id, region=config.aws_region, model=config.model_arn)

    @router.post("/ask", responses=errors(413))
    async def ask(body: Ask) -> PageAnswer:
        """Answer one question with citations. AWS bills it like any other question."""
        return PageAnswer.of(await knowledge_base.answer(Question(query=body.query, max_results=body.max_results)))

    return router
