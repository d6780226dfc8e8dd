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

SCORES_GRACE_SECONDS = 1.0  # the search usually ends long before the answer


class KnowledgeBase:
    """A knowledge base that any number of callers may query at once."""

    def __init__(self, config: KBConfig) -> None:
        self.config = config
        self._client = BedrockClient(config)
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._managed = False

    async def answer(self, question: Question, progress: Progress | None = None) -> KBResponse:
        """An answer with merged citations. Bedrock sends no scores with them; a concurrent search has them."""
        if not self.config.scores:
            return _merged(await self._generate(question, progress))
        search = asyncio.ensure_future(self._retrieve(question))
        try:
            answer = _merged(await self._generate(question, progress))
            return await self._with_scores(answer, search)
        finally:
            search.cancel()  # also keeps asyncio from reporting its error

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

    async def _with_scores(self, answer: KBResponse, search: "asyncio.Task[Passages]") -> KBResponse:
        """An answer without scores is better than none: a search that fails or is slow only leaves a notice."""
        if not answer.citations:
            return answer
        try:
            async with asyncio.timeout(SCORES_GRACE_SECONDS):
                found = await search
        except TimeoutError:
            return _without_scores(answer, Message("bedrock_kb.scores_late"))
        except KBError as error:
            logger.warning("no scores for kb_answer: %s: %s", error.code, error.message)
            return _without_scores(answer, error.reason)
        citations = fill_scores(answer.citations, found.results)
        return replace(answer, citations=citations, notice=answer.notice or found.notice)

    async def _call(self, work: Callable[[], T]) -> T:
        async with self._slots:
            return await in_thread(work)


def _merged(answer: KBResponse) -> KBResponse:
    return replace(answer, citations=merge_citations(answer.citations))


def _without_scores(answer: KBResponse, reason: Message) -> KBResponse:
    return replace(answer, notice=answer.notice or Message("bedrock_kb.scores_missing", reason=reason))
