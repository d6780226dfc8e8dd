"""The rules of this module: when to stream, where scores come from, what is retried."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from chie.bedrock_kb.bedrock_client import MAX_CONNECTIONS, BedrockClient
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import KBError, ServiceError
from chie.bedrock_kb.progress import Progress
from chie.bedrock_kb.requests import Question, Search
from chie.bedrock_kb.responses import KBResponse, Passages, fill_scores, merge_citations
from chie.bedrock_kb.threads import in_thread
from chie.messages.catalogue import Message

logger = logging.getLogger(__name__)

T = TypeVar("T")


class KnowledgeBase:
    """A knowledge base that any number of callers may query at once."""

    def __init__(self, config: KBConfig) -> None:
        self.config = config
        self._client = BedrockClient(config)
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._managed = False

    async def answer(self, question: Question, progress: Progress | None = None) -> KBResponse:
        """An answer with merged citations; they have scores if BEDROCK_KB_SCORES is set."""
        if not self.config.scores:
            answer = await self._generate(question, progress)
            return replace(answer, citations=merge_citations(answer.citations))
        answer, found = await asyncio.gather(self._generate(question, progress), self._scored(question))
        citations = fill_scores(merge_citations(answer.citations), found.results)
        return replace(answer, citations=citations, notice=answer.notice or found.notice)

    async def search(self, search: Search) -> Passages:
        """Bedrock rejects a vector search of a managed knowledge base, which needs another form of the request.

        After a ValidationException that form is tried once, and remembered if it works.
        """
        if self._managed:
            return await self._retrieve(search, managed=True)
        try:
            return await self._retrieve(search)
        except ServiceError as error:
            if error.aws_code != "ValidationException":
                raise
            try:
                found = await self._retrieve(search, managed=True)
            except KBError:
                raise error from None
            self._managed = True
            return found

    def check(self) -> dict[str, Any]:
        """The configuration; AWS is not called."""
        return {"knowledge_base": self.config.kb_id, "region": self.config.aws_region}

    def close(self) -> None:
        self._client.close()

    async def _generate(self, question: Question, progress: Progress | None) -> KBResponse:
        if progress is None:
            return await self._call(partial(self._client.retrieve_and_generate, question))
        stream = partial(self._client.retrieve_and_generate_stream, question, progress.on_text)
        return await progress.report_during(self._call(stream))

    async def _retrieve(self, search: Search, *, managed: bool = False) -> Passages:
        return await self._call(partial(self._client.retrieve, search, managed=managed))

    async def _scored(self, question: Question) -> Passages:
        """An answer without scores is better than none, so a failed search only leaves a notice."""
        try:
            return await self._retrieve(question)
        except KBError as error:
            logger.warning("no scores for kb_answer: %s: %s", error.code, error.message)
            return Passages([], notice=Message("bedrock_kb.scores_missing", reason=error.reason))

    async def _call(self, work: Callable[[], T]) -> T:
        async with self._slots:
            return await in_thread(work)
