"""A conversation as a model takes it: the earlier turns, with the tool calls made in them, and the question."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from chie.chat.agents.base import Attachment, Turn
from chie.chat.agents.context_budget import Summary
from chie.chat.agents.files import MAX_IMAGES, shown_images, user_message
from chie.chat.models.chunks import Call
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage

NO_RESULT = "(The call was cut off and has no result.)"
CUT_OFF = "(The answer was cut off here.)"

_VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what Bedrock and Anthropic accept


def conversation(
    history: Sequence[Turn], message: str, attachments: Sequence[Attachment] = (), *, sees: bool = False
) -> list[ChatMessage]:
    """Turns that alternate and start with the user, as Bedrock, Anthropic and many local chat templates require, and
    results that follow their calls. A model that sees gets the newest images, another one their names."""
    messages: list[ChatMessage] = []
    used: set[str] = set()
    asked = Turn(role="user", content=message, attachments=list(attachments))
    for turn in shown_images([*history, asked], MAX_IMAGES if sees else 0):
        for one in _of_turn(turn, used):
            _append(messages, one)
    return messages


def earlier_summary(history: Sequence[Turn]) -> Summary | None:
    """The newest one in this branch. One that was not finished has no content."""
    parts = [part for turn in history for part in turn.get("parts", ()) if part["type"] == "summary"]
    return next((Summary(part["questions"], part["content"]) for part in reversed(parts) if "content" in part), None)


def in_words(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The same without calls, for a model that is offered no tools: several providers refuse calls then."""
    plain: list[ChatMessage] = []
    calls: dict[str, Call] = {}
    for message in messages:
        match message:
            case AssistantMessage(content, made):
                calls |= {call.id: call for call in made}
                _append(plain, AssistantMessage(content))
            case ToolMessage(results):
                told = "\n\n".join(_told(calls[result.id], result) for result in results)
                _append(plain, AssistantMessage(told))
            case UserMessage():
                _append(plain, message)
    return plain


def _told(call: Call, result: CallResult) -> str:
    outcome = "failed" if result.is_error else "returned"
    return f"[The tool {call.name} with the arguments {call.arguments} {outcome}:\n{result.content}]"


def _of_turn(turn: Turn, used: set[str]) -> Iterator[ChatMessage]:
    if turn["role"] == "user":
        yield user_message(turn)
    elif any(part["type"] == "tool_call" for part in turn.get("parts", ())):
        yield from _rounds(turn["parts"], used)
    else:
        yield AssistantMessage(turn["content"])


def _rounds(parts: Sequence[Mapping[str, Any]], used: set[str]) -> Iterator[ChatMessage]:
    """What the model said and called each time, and the results. A call without a result was cut off."""
    results = {part["id"]: part for part in parts if part["type"] == "tool_result"}
    text, calls, ended = "", list[Mapping[str, Any]](), False
    for part in parts:
        if part["type"] == "tool_result":
            ended = True
            continue
        if part["type"] not in ("message", "tool_call"):
            continue
        if calls and (ended or part["type"] == "message"):
            yield from _round(text, calls, results, used)
            text, calls = "", []
        ended = False
        if part["type"] == "message":
            text += part["content"]
        else:
            calls.append(part)
    yield from _round(text, calls, results, used)


def _round(
    text: str, calls: Sequence[Mapping[str, Any]], results: Mapping[str, Mapping[str, Any]], used: set[str]
) -> Iterator[ChatMessage]:
    made, found = [], []
    for call in calls:
        unique = _unique(call["id"], used)
        made.append(Call(unique, call["name"], json.dumps(call["arguments"], ensure_ascii=False)))
        result = results.get(call["id"], {"content": NO_RESULT, "is_error": True})
        found.append(CallResult(unique, result["content"] or "(empty)", result["is_error"]))
    yield AssistantMessage(text.strip(), tuple(made))
    if found:
        yield ToolMessage(tuple(found))


def _unique(given: str, used: set[str]) -> str:
    """Servers that number calls from zero do so in every answer, and other servers refuse such numbers."""
    own = [given] if _VALID_ID.fullmatch(given) else []
    unique = next(one for one in chain(own, map("call_{}".format, count(len(used)))) if one not in used)
    used.add(unique)
    return unique


def _append(messages: list[ChatMessage], new: ChatMessage) -> None:
    """Leaves out what is empty or comes before the first question, joins what would not alternate, and puts an answer
    between results and the next question."""
    last = messages[-1] if messages else None
    match last, new:
        case None, AssistantMessage() | ToolMessage():
            return
        case _, UserMessage(content, ()) if not content.strip():
            return
        case _, AssistantMessage(content, ()) if not content.strip():
            return
        case UserMessage(before, seen), UserMessage(content, images):
            messages[-1] = UserMessage("\n\n".join(filter(str.strip, (before, content))), seen + images)
        case AssistantMessage(before, ()), AssistantMessage(content):
            messages[-1] = replace(new, content=f"{before}\n\n{content}".strip())
        case ToolMessage(), UserMessage():
            messages.extend((AssistantMessage(CUT_OFF), new))
        case _:
            messages.append(new)
