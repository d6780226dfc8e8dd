"""`POST /v1/responses`: OpenAI's Responses API in its basic form. Nothing is stored: clients send the whole input."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from json import JSONEncoder
from time import time
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from chie.chat.api.agent_reader import AgentReader
from chie.chat.api.openai_compat import read_answer
from chie.chat.api.openai_options import agent_request
from chie.chat.api.openai_stream import error_object, streamed_answer, whole_answer
from chie.chat.api.responses_schemas import ResponseRequest, completion_request
from chie.chat.api.sse import HEARTBEAT_COMMENT, MEDIA_TYPE
from chie.chat.api.state import ChatState
from chie.chat.events import ClientCall, Done, Usage
from chie.chat.sessions.entities import new_id
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/v1", tags=["openai"])

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}

_json = JSONEncoder(ensure_ascii=False).encode


class ResponseObject(BaseModel):
    id: str
    object: str
    created_at: int
    model: str
    status: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None = None


RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ResponseObject,
        "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["type"]}}},
        "description": "The response.",
    }
}


@router.post("/responses", response_class=JSONResponse, responses={**RESPONSE, **errors(401, 403, 404, 413, 429)})
async def respond(body: ResponseRequest, chat: ChatState, request: Request) -> Response:
    """Ask an agent, as `/v1/chat/completions` does, with the input, output and events of the Responses API."""
    reader = await read_answer(chat, body.model, agent_request(completion_request(body)))
    answer = _Answer(body)
    if not body.stream:
        return await whole_answer(request, answer.whole(reader))
    return await streamed_answer(request, reader, answer.stream(reader), answer.failed)


class _Answer:
    """One response; its output items are the text and the calls of the client's functions."""

    def __init__(self, body: ResponseRequest) -> None:
        self._head: dict[str, Any] = {
            "id": f"resp_{new_id()}",
            "object": "response",
            "created_at": int(time()),
            "model": body.model,
            "error": None,
            "incomplete_details": None,
            "instructions": body.instructions,
            "metadata": body.metadata or {},
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "store": False,
            "temperature": body.temperature,
            "tool_choice": body.model_dump(include={"tool_choice"})["tool_choice"] or "auto",
            "tools": [tool.model_dump() for tool in body.tools or []],
            "top_p": body.top_p,
        }
        self._message_id = f"msg_{new_id()}"
        self._texts: list[str] = []
        self._output: list[dict[str, Any]] = []
        self._count = 0

    async def whole(self, reader: AgentReader) -> dict[str, Any]:
        done = Done(type="done", usage=None)
        async with aclosing(reader):
            async for event in reader:
                if event and event["type"] == "message":
                    self._texts.append(event["content"])
                elif event and event["type"] == "done":
                    done = event
        if self._texts or not done.get("calls"):
            self._output.append(self._message("completed"))
        self._output += [_function_call(call) for call in done.get("calls", ())]
        return self._response(done)

    async def stream(self, reader: AgentReader) -> AsyncIterator[str]:
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response={**self._head, "status": "in_progress", "output": [], "usage": None})
        done = Done(type="done", usage=None)
        try:
            async for event in reader:
                if event is None:
                    yield HEARTBEAT_COMMENT.decode()
                elif event["type"] == "message":
                    for line in self._text(event["content"]):
                        yield line
                elif event["type"] == "done":
                    done = event
        except Exception as error:  # noqa: BLE001 - the status is sent, so the error must go into the stream
            yield self.failed(error_object(error))
            return
        for line in self._ending(done):
            yield line

    def failed(self, error: dict[str, Any]) -> str:
        """The last event of a response that broke off."""
        reason = {"code": error["code"] or "server_error", "message": error["message"]}
        response = {**self._head, "status": "failed", "error": reason, "output": self._output, "usage": None}
        return self._event("response.failed", response=response)

    def _text(self, delta: str) -> Iterator[str]:
        if not self._texts:
            yield self._event("response.output_item.added", output_index=0, item=self._message("in_progress"))
            yield self._part_event("response.content_part.added", part=_text_part(""))
        self._texts.append(delta)
        yield self._part_event("response.output_text.delta", delta=delta, logprobs=[])

    def _ending(self, done: Done) -> Iterator[str]:
        if not self._texts and not done.get("calls"):
            yield from self._text("")
        if self._texts:
            text, message = "".join(self._texts), self._message("completed")
            yield self._part_event("response.output_text.done", text=text, logprobs=[])
            yield self._part_event("response.content_part.done", part=_text_part(text))
            yield self._event("response.output_item.done", output_index=0, item=message)
            self._output.append(message)
        for call in done.get("calls", ()):
            yield from self._call(call)
        response = self._response(done)
        yield self._event(f"response.{response['status']}", response=response)

    def _call(self, call: ClientCall) -> Iterator[str]:
        item, index = _function_call(call), len(self._output)
        at = {"item_id": item["id"], "output_index": index}
        start = {**item, "arguments": "", "status": "in_progress"}
        yield self._event("response.output_item.added", output_index=index, item=start)
        yield self._event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        yield self._event("response.function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"])
        yield self._event("response.output_item.done", output_index=index, item=item)
        self._output.append(item)

    def _message(self, status: str) -> dict[str, Any]:
        content = [_text_part("".join(self._texts))] if status == "completed" else []
        return {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _response(self, done: Done) -> dict[str, Any]:
        reason = INCOMPLETE.get(done.get("finish", ""))
        return {
            **self._head,
            "status": "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "output": self._output,
            "usage": _usage(done["usage"]),
        }

    def _part_event(self, kind: str, **fields: Any) -> str:  # noqa: ANN401 - JSON
        return self._event(kind, item_id=self._message_id, output_index=0, content_index=0, **fields)

    def _event(self, kind: str, **fields: Any) -> str:  # noqa: ANN401 - JSON
        number, self._count = self._count, self._count + 1
        return f"event: {kind}\ndata: {_json({'type': kind, 'sequence_number': number, **fields})}\n\n"


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _function_call(call: ClientCall) -> dict[str, Any]:
    fields = {"call_id": call["id"], "name": call["name"], "arguments": call["arguments"]}
    return {"id": f"fc_{new_id()}", "type": "function_call", "status": "completed", **fields}


def _usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    given, made = usage["input_tokens"], usage["output_tokens"]
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": usage.get("cached_tokens", 0),
            "cache_write_tokens": usage.get("cache_write_tokens", 0),
        },
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": usage.get("reasoning_tokens", 0)},
        "total_tokens": given + made,
    }
