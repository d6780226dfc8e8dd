"""The agent without a model: it searches the team's notes for the question and quotes them word for word."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any, ClassVar
from uuid import uuid4

from chie.chat.agents.base import Approve, OptionsAgent, Turn
from chie.chat.agents.excerpts import excerpt
from chie.chat.agents.profile import Profile
from chie.chat.agents.profile_agent import ProfileAgent
from chie.chat.events import Done, Event, Text, ToolCall
from chie.chat.models.options import Options
from chie.chat.toolbox.tool import Outcome
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import ServiceError, ValidationError
from chie.messages.catalogue import Language, Message

SERVER = "knowledge"
TOOL = "search_knowledge"
MAX_QUOTES = 3
MAX_QUERY = 1000  # characters

_MARKDOWN = re.compile(r"[\\`*\[\]<~$]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class NotesAgent(ProfileAgent, OptionsAgent):
    uses_model: ClassVar[bool] = False
    default_name: ClassVar[str | Message] = Message("agents.notes_name")
    default_description: ClassVar[str | Message] = Message("agents.notes_description")

    def __init__(self, profile: Profile, toolbox: Toolbox) -> None:
        super().__init__(profile)
        self._toolbox = toolbox

    def supports_mcp(self) -> bool:
        return True

    async def stream_chat(
        self,
        message: str,
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002  the search only reads
    ) -> AsyncGenerator[Event, None]:
        arguments = {"query": _query(message), "limit": MAX_QUOTES}
        call = ToolCall(type="tool_call", id=f"call_{uuid4().hex[:12]}", name=TOOL, arguments=arguments)
        yield call
        outcome = await self._search(arguments)
        yield outcome.event(call)
        for paragraph in _paragraphs(message, outcome.structured or json.loads(outcome.content)):
            yield Text(type="message", content=paragraph)
        yield Done(type="done", usage=None)

    def stream_with_options(
        self, message: str, history: Sequence[Turn], session_id: str, options: Options
    ) -> AsyncGenerator[Event, None]:
        """A system text would only confuse the search."""
        if options.unusual_names:
            raise ValidationError("agents.options_unsupported", names=options.unusual_names)
        if not message:
            raise ValidationError("agents.tool_results_unsupported")
        return self.stream_chat(message, history, session_id)

    async def _search(self, arguments: dict[str, Any]) -> Outcome:
        await self._toolbox.initialize_servers([SERVER])
        toolset = self._toolbox.toolset([SERVER])
        tool = next((tool for tool in toolset.tools() if tool.original == TOOL), None)
        if tool is None:
            raise ServiceError(await self.problem() or Message("agents.knowledge_not_responding"))
        outcome = await toolset.call(tool, arguments)
        if outcome.is_error:
            raise ServiceError("agents.search_failed", error=outcome.content)
        return outcome

    async def problem(self) -> Message | None:
        state = next((state for state in self._toolbox.states() if state.name == SERVER), None)
        if state is None:
            return Message("agents.knowledge_missing")
        return state.error if state.is_down else None


def _query(message: str) -> str:
    """People paste logs; their beginning is enough to search for."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", message)[:MAX_QUERY]


def _paragraphs(question: str, found: dict[str, Any]) -> Iterator[str]:
    """In the language of the question. Only notes that certainly match are quoted."""
    language: Language = "ja" if _JAPANESE.search(question) else "en"
    hits = found.get("hits", [])
    sure = [hit for hit in hits if hit.get("confident", True)]
    unsure = [hit for hit in hits if hit not in sure]
    opening = "agents.notes_found" if sure else "agents.notes_perhaps" if unsure else "agents.notes_not_found"
    yield Message(opening).text(language) + "\n"
    for number, hit in enumerate(sure, start=1):
        yield "\n" + _quotation(number, hit, question, language)
    if unsure and sure:
        yield f"\n{Message('agents.notes_perhaps_too').text(language)}\n"
    if unsure:
        yield "\n" + "".join(f"- {_literal(hit['title'])} · `{hit['id']}`\n" for hit in unsure)
    if found.get("notice"):
        yield f"\n{found['notice']}\n"


def _literal(text: str) -> str:
    """Markdown that shows the text as it is: `&amp;` stays `&amp;`."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def _quotation(number: int, hit: dict[str, Any], question: str, language: Language) -> str:
    """A numbered Markdown item: the title, the passage as a quotation, and its source."""
    passage = "\n".join(f"   > {line}".rstrip() for line in excerpt(hit["content"], question).splitlines())
    details = [
        _literal(hit.get("source") or ""),
        str(hit.get("updated_at", ""))[:10],
        f"`{hit['id']}`",
        Message("agents.notes_partial").text(language) if hit.get("partial") else "",
    ]
    return f"{number}. **{_literal(hit['title'])}**\n\n{passage}\n\n   {' · '.join(filter(None, details))}\n"
