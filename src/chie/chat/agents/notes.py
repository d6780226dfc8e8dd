"""The agent without a model: it looks the question up among the team's notes and quotes them word for word."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any
from uuid import uuid4

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn
from chie.chat.agents.canned_replies import words_for
from chie.chat.agents.excerpts import quote
from chie.chat.agents.profile import Profile
from chie.chat.events import Done, Event, Text, ToolCall, ToolResult
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import ServiceError

ROOM = "knowledge"
TOOL = "search_knowledge"
QUOTES = 3
LONGEST_QUERY = 1000


class NotesAgent(BaseAgent):
    def __init__(self, profile: Profile, toolbox: Toolbox) -> None:
        self._profile = profile
        self._toolbox = toolbox

    @property
    def agent_id(self) -> str:
        return self._profile.id

    @property
    def name(self) -> str:
        return self._profile.name or "Notes"

    @property
    def description(self) -> str:
        return self._profile.description or "Quotes the team's notes that fit your question. Needs no model."

    def supports_mcp(self) -> bool:
        return True

    async def stream_chat(
        self,
        message: str,
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002  it only reads
    ) -> AsyncGenerator[Event, None]:
        arguments = {"query": _query(message), "limit": QUOTES}
        call = ToolCall(type="tool_call", id=f"call_{uuid4().hex[:12]}", name=TOOL, arguments=arguments)
        yield call
        result, found = await self._search(call)
        yield result
        for paragraph in _paragraphs(message, found):
            yield Text(type="message", content=paragraph)
        yield Done(type="done", usage=None)

    async def _search(self, call: ToolCall) -> tuple[ToolResult, dict[str, Any]]:
        await self._toolbox.initialize_servers([ROOM])
        toolset = self._toolbox.toolset([ROOM])
        tool = next((tool for tool in toolset.tools() if tool.original == TOOL), None)
        if tool is None:
            raise ServiceError(await self._missing() or "The knowledge room does not answer. Try again in a moment.")
        outcome = await toolset.call(tool, call["arguments"])
        if outcome.is_error:
            raise ServiceError(f"The notes could not be searched: {outcome.content}")
        result = ToolResult(
            type="tool_result", id=call["id"], name=TOOL, content=outcome.content, is_error=outcome.is_error
        )
        return result, outcome.structured or json.loads(outcome.content)

    async def get_agent_info(self) -> AgentInfo:
        reason = await self._missing()
        return AgentInfo(
            id=self.agent_id,
            name=self.name,
            description=self.description,
            supports_mcp=True,
            available=reason is None,
            reason=reason,
        )

    async def _missing(self) -> str | None:
        state = next((state for state in self._toolbox.states() if state.name == ROOM), None)
        if state is None:
            return "This house has no knowledge room, so there are no notes to search."
        return state.error if state.is_away else None


def _query(message: str) -> str:
    """People paste logs; their beginning says enough to look for."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", message)[:LONGEST_QUERY]


def _paragraphs(question: str, found: dict[str, Any]) -> Iterator[str]:
    words = words_for(question)
    hits = found.get("hits", [])
    yield (words.found if hits else words.nothing) + "\n"
    for number, hit in enumerate(hits, start=1):
        yield "\n" + _quotation(number, hit, question, words.part)
    if found.get("notice"):
        yield f"\n{found['notice']}\n"


def _quotation(number: int, hit: dict[str, Any], question: str, part: str) -> str:
    """A numbered item of Markdown: the title, the passage as a quotation, and where it comes from."""
    passage = "\n".join(f"   > {line}".rstrip() for line in quote(hit["content"], question).splitlines())
    about = [
        hit.get("source"),
        str(hit.get("updated_at", ""))[:10],
        f"`{hit['id']}`",
        part if hit.get("partial") else "",
    ]
    return f"{number}. **{hit['title']}**\n\n{passage}\n\n   {' · '.join(filter(None, about))}\n"
