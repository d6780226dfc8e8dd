"""The rules of the room: one connection for all, when to stream, where scores come from, what is tried again."""

import asyncio
import logging
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from chie.bedrock_kb import bedrock_client
from chie.bedrock_kb.citations import Found, KBResponse, fill_scores, merge_citations
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, ServiceError
from chie.bedrock_kb.progress import Progress
from chie.bedrock_kb.requests import Question, Search
from chie.bedrock_kb.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_bedrock_agent_runtime import AgentsforBedrockRuntimeClient as Client

logger = logging.getLogger(__name__)

T = TypeVar("T")


class KnowledgeBase:
    """A knowledge base that many callers ask at once. The connection is made by the first of them."""

    def __init__(self, config: KBConfig) -> None:
        self.config = config
        self._client: Client | None = None
        self._connecting = Lock()
        self._places = asyncio.Semaphore(bedrock_client.CONNECTIONS)
        self._managed = False

    async def answer(self, question: Question, progress: Progress | None = None) -> KBResponse:
        """With citations merged, and scored if the operator wants them to be."""
        if not self.config.scores:
            answer = await self._ask(question, progress)
            return replace(answer, citations=merge_citations(answer.citations))
        answer, found = await asyncio.gather(self._ask(question, progress), self._scored(question))
        citations = fill_scores(merge_citations(answer.citations), found.results)
        return replace(answer, citations=citations, notice=answer.notice or found.notice)

    async def search(self, search: Search) -> Found:
        """Where Bedrock refuses the vector search, the knowledge base may be a managed one, which asks for another
        form of the request; that it was is kept in mind.
        """
        if self._managed:
            return await self._find(search, managed=True)
        try:
            return await self._find(search)
        except ServiceError as error:
            if error.code != "ValidationException":
                raise
            try:
                found = await self._find(search, managed=True)
            except KBError:
                raise error from None
            self._managed = True
            return found

    def check(self) -> dict[str, Any]:
        """What is configured; nothing is asked of AWS."""
        return {"knowledge_base": self.config.kb_id, "region": self.config.aws_region}

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def _ask(self, question: Question, progress: Progress | None) -> KBResponse:
        if progress is None:
            return await self._call(partial(bedrock_client.ask, config=self.config, question=question))
        aloud = partial(bedrock_client.ask_aloud, config=self.config, question=question, hear=progress.hear)
        return await progress.accompany(self._call(aloud))

    async def _find(self, search: Search, *, managed: bool = False) -> Found:
        return await self._call(partial(bedrock_client.find, config=self.config, search=search, managed=managed))

    async def _scored(self, question: Question) -> Found:
        """An answer without scores is worth more than none."""
        try:
            return await self._find(question)
        except KBError as error:
            logger.warning("no scores for kb_answer: %s", error.message)
            return Found([], notice=f"The citations have no scores: {error.message}")

    async def _call(self, work: "Callable[[Client], T]") -> T:
        async with self._places:
            return await in_thread(lambda: self._with_client(work))

    def _with_client(self, work: "Callable[[Client], T]") -> T:
        """Credentials that were refused are looked up anew by the next call, so that signing in again is enough."""
        with self._connecting:
            client = self._client = self._client or bedrock_client.connect(self.config)
        try:
            return work(client)
        except AuthenticationError:
            self._forget(client)
            raise

    def _forget(self, client: "Client") -> None:
        with self._connecting:
            if self._client is client:
                self._client = None
