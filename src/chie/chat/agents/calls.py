"""Calls agents, also those that know only the smallest interface: three arguments, plain dicts, no approval."""

import inspect
import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import lru_cache
from itertools import count
from typing import Any, cast

from chie.chat.agents.base import AgentInfo, Approve, Attachment, BaseAgent, OptionsAgent, Turn
from chie.chat.agents.files import with_files
from chie.chat.agents.profile_agent import ProfileAgent
from chie.chat.agents.project import ProjectContext, ProjectReader
from chie.chat.events import Done, Event, ReasoningText, Text, ToolCall, ToolResult
from chie.chat.models.options import Options
from chie.errors import ServiceError, ValidationError

OPTIONAL_TEXTS = ("name", "description", "reason")

logger = logging.getLogger(__name__)


async def agent_info(agent: BaseAgent) -> AgentInfo:
    """Every key of AgentInfo; the agent's own properties take the place of those that it leaves out."""
    given = agent.get_agent_info()
    found = dict(await given if inspect.isawaitable(given) else given)
    info: dict[str, object] = {
        "agent_id": agent.agent_id,
        "name": found.get("name") or agent.name,
        "description": found.get("description") or agent.description,
        "supports_mcp": found.get("supports_mcp", agent.supports_mcp()),
        "available": found.get("available", True),
        "reason": found.get("reason"),
        "model": found.get("model"),
        "sees_images": bool(found.get("sees_images")) and _takes(agent, "attachments"),
        "reads_documents": bool(found.get("reads_documents", True)),
        "tool_tokens": found.get("tool_tokens"),
        "model_parameters": found.get("model_parameters"),
        "servers": list(agent.mcp_servers()),
    }
    texts = [f"{field}_{part}" for field in OPTIONAL_TEXTS for part in ("code", "params")]
    return cast("AgentInfo", info | {name: found.get(name) for name in texts})


def model_name(agent: BaseAgent) -> str | None:
    """What the provider calls the agent's model; None if the agent has none, or it is not known yet."""
    return agent.model_name if isinstance(agent, ProfileAgent) else None


def stream_chat(
    agent: BaseAgent,
    message: str,
    history: Sequence[Turn],
    session_id: str,
    approve: Approve | None = None,
    *,
    attachments: Sequence[Attachment] = (),
    project: ProjectContext | None = None,
) -> AsyncGenerator[Event, None]:
    """The agent's answer. An agent whose `stream_chat` has no `approve` gets none, and its events are completed. One
    that takes no `attachments` gets the text of documents with the message, and one that takes no `project` what the
    project says."""
    options: dict[str, Any] = {}
    if _takes(agent, "attachments"):
        options = {"attachments": attachments} if attachments else {}
    else:
        message, history = with_files(message, attachments), [_without_files(turn) for turn in history]
    if project and _takes(agent, "project"):
        options["project"] = project
    elif project:
        message = f"{ProjectReader(project=project, question=message).text(None)}\n\n{message}"
    if _takes(agent, "approve"):
        return agent.stream_chat(message, history, session_id, approve=approve, **options)
    events = cast("AsyncGenerator[Mapping[str, Any], None]", agent.stream_chat(message, history, session_id))
    return _completed(events)


def stream_with_options(
    agent: BaseAgent, message: str, history: Sequence[Turn], session_id: str, options: Options
) -> AsyncGenerator[Event, None]:
    """An agent that takes no options gets a system text before the question; the rest is refused by name."""
    if isinstance(agent, OptionsAgent):
        return agent.stream_with_options(message, history, session_id, options)
    if options.unusual_names:
        raise ValidationError("agents.options_unsupported", names=options.unusual_names)
    files: Sequence[Attachment] = ()
    if not message and history and history[-1]["role"] == "user":
        *history, last = history
        message, files = last["content"], last.get("attachments", ())
    elif not message:
        raise ValidationError("agents.tool_results_unsupported")
    text = "\n\n".join(filter(None, (options.system, message)))
    return stream_chat(agent, text, history, session_id, attachments=files)


def _takes(agent: BaseAgent, keyword: str) -> bool:
    method = agent.stream_chat
    return _accepts(getattr(method, "__func__", method), keyword)


@lru_cache(maxsize=256)
def _accepts(function: Callable[..., Any], keyword: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(one.name == keyword or one.kind is one.VAR_KEYWORD for one in parameters)


def _without_files(turn: Turn) -> Turn:
    if "attachments" not in turn:
        return turn
    return Turn(role=turn["role"], content=with_files(turn["content"], turn["attachments"]))


async def _completed(events: AsyncGenerator[Mapping[str, Any], None]) -> AsyncGenerator[Event, None]:
    numbers = count()
    last_ids: dict[str, str] = {}  # by tool
    async with aclosing(events):
        async for event in events:
            match event.get("type"):
                case "message":
                    yield Text(type="message", content=_text(event.get("content")))
                case "reasoning":
                    yield ReasoningText(type="reasoning", content=_text(event.get("content")))
                case "tool_call":
                    call = _call(event, next(numbers))
                    last_ids[call["name"]] = call["id"]
                    yield call
                case "tool_result":
                    yield _result(event, last_ids)
                case "done":
                    yield Done(type="done", usage=event.get("usage"))
                case "error":
                    raise ServiceError("agents.reported_error", error=_text(event.get("error")))
                case unknown:
                    logger.warning("ignored an event of the unknown type %s", unknown)


def _call(event: Mapping[str, Any], number: int) -> ToolCall:
    call_id = str(event.get("id") or f"call_{number}")
    return ToolCall(
        type="tool_call", id=call_id, name=str(event.get("name")), arguments=dict(event.get("arguments") or {})
    )


def _result(event: Mapping[str, Any], last_ids: Mapping[str, str]) -> ToolResult:
    name = str(event.get("name"))
    return ToolResult(
        type="tool_result",
        id=str(event.get("id") or last_ids.get(name, name)),
        name=name,
        content=_text(event.get("content")),
        is_error=bool(event.get("is_error")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
