"""A request of the OpenAI-compatible API as an agent takes it: earlier turns, the question and options."""

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chie.chat.agents.base import Attachment, Turn
from chie.chat.api.openai_schemas import (
    ChatMessage,
    CompletionRequest,
    FunctionTool,
    MessageCall,
    NamedToolChoice,
    Parameters,
)
from chie.chat.models.chunks import Call
from chie.chat.models.options import Options, ToolSpec
from chie.documents.file_kinds import image_type
from chie.documents.images import image_size
from chie.errors import ValidationError

NO_PARAMETERS = {"type": "object", "properties": {}}


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """An empty `question` means that `history` ends with what is to be answered: a question with images, or the
    results of the client's tools."""

    history: list[Turn]
    question: str
    options: Options

    @property
    def has_images(self) -> bool:
        return any("attachments" in turn for turn in self.history)


def agent_request(body: CompletionRequest) -> AgentRequest:
    system, turns = _conversation(body.messages)
    last = turns[-1] if turns else Turn(role="assistant", content="")
    question = ""
    if last["role"] == "user" and "attachments" not in last:
        question = str(turns.pop()["content"])
    ended = last.get("parts", [])[-1:]
    answerable = question.strip() or "attachments" in last or (ended and ended[0]["type"] == "tool_result")
    if not answerable:
        raise ValidationError("chat.question_missing")
    return AgentRequest(history=turns, question=question, options=_options(body, system))


def _options(body: CompletionRequest, system: str) -> Options:
    tools = offered(body.tools or [], body.tool_choice)
    return Options(
        system=system,
        parameters=parameters(body),
        tools=tools,
        call_required=bool(tools) and body.tool_choice not in (None, "auto"),
    )


def parameters(body: Parameters) -> dict[str, Any]:
    """Those that were given; ValidationError naming those that no model can be asked for here."""
    given = {name: value for name, value in body.model_dump(exclude_none=True).items() if name not in body.OWN}
    given = {name: value for name, value in given.items() if value not in body.ACCEPTED.get(name, ())}
    if unsupported := [name for name in given if name not in type(body).model_fields]:
        raise ValidationError("chat.fields_unsupported", names=[name[:60] for name in unsupported[:20]])
    return given


def offered(tools: Sequence[FunctionTool], choice: str | NamedToolChoice | None) -> tuple[ToolSpec, ...]:
    """The tools that the model may call: all, none, or the one that the client has chosen."""
    specs = [_spec(tool) for tool in tools]
    if isinstance(choice, NamedToolChoice):
        specs = [spec for spec in specs if spec.name == choice.function.name]
    if not specs and choice not in (None, "auto", "none"):
        raise ValidationError("chat.tool_choice_unknown")
    return () if choice == "none" else tuple(specs)


def _spec(tool: FunctionTool) -> ToolSpec:
    function = tool.function
    schema = function.parameters or NO_PARAMETERS
    return ToolSpec(name=function.name, description=function.description or "", schema=schema, strict=function.strict)


def _conversation(messages: Sequence[ChatMessage]) -> tuple[str, list[Turn]]:
    """The system text, wherever it stands, and the other messages; results belong to the turn of their call."""
    system: list[str] = []
    turns: list[Turn] = []
    for message in messages:
        text = _text(message)
        match message.role:
            case "system" | "developer":
                system.append(text)
            case "user":
                turns.append(Turn(role="user", content=text))
                if images := _images(message):
                    turns[-1]["attachments"] = images
            case "assistant":
                turns.append(_answer(text, message.tool_calls or []))
            case "tool":
                _add_result(turns, message.tool_call_id, text)
    return "\n\n".join(filter(str.strip, system)), turns


def _answer(text: str, calls: Sequence[MessageCall]) -> Turn:
    turn = Turn(role="assistant", content=text)
    if not calls:
        return turn
    parts: list[dict[str, Any]] = [{"type": "message", "content": text}] if text else []
    return {**turn, "parts": parts + [_call(call) for call in calls]}


def _call(call: MessageCall) -> dict[str, Any]:
    arguments = Call(call.id, call.function.name, call.function.arguments).parsed() or {}
    return {"type": "tool_call", "id": call.id, "name": call.function.name, "arguments": arguments}


def _add_result(turns: list[Turn], call_id: str | None, text: str) -> None:
    parts = turns[-1].get("parts", []) if turns else []
    call = next((part for part in parts if part["type"] == "tool_call" and part["id"] == call_id), None)
    if call is None:
        raise ValidationError("chat.tool_result_unmatched")
    parts.append({**call, "type": "tool_result", "content": text, "is_error": False})


def _text(message: ChatMessage) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    readable = ("text", "refusal", "image_url") if message.role == "user" else ("text", "refusal")
    if any(part.type not in readable for part in message.content):
        raise ValidationError("chat.text_only")
    return "\n".join(part.text or "" for part in message.content if part.type != "image_url")


def _images(message: ChatMessage) -> list[Attachment]:
    parts = message.content if isinstance(message.content, list) else []
    urls = [part.image_url.url if part.image_url else "" for part in parts if part.type == "image_url"]
    return [_image(f"image {number}", url) for number, url in enumerate(urls, start=1)]


def _image(name: str, url: str) -> Attachment:
    head, _, data = url.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValidationError("chat.image_url_unsupported")
    try:
        content = b64decode(data, validate=True)
    except ValueError as error:
        raise ValidationError("attachments.image_damaged", name=name) from error
    media_type = image_type(content)
    if media_type is None:
        raise ValidationError("attachments.image_type_unsupported", name=name)
    if image_size(media_type, content) is None:
        raise ValidationError("attachments.image_damaged", name=name)
    return Attachment(name=name, media_type=media_type, data=content)
