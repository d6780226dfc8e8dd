"""A scripted Responses API on loopback, so that the real Codex runs without a model."""

import json
from collections import deque
from typing import Any

from tests.fakes.loopback import Handler, Loopback


class _Handler(Handler):
    owner: "ResponsesApi"

    def post(self) -> None:
        item = self.owner.item(json.loads(self.body()))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        details = {"input_tokens_details": None, "output_tokens_details": None}
        self._event("response.created", response={"id": "r"})
        self._event("response.output_item.done", output_index=0, item=item)
        self._event("response.completed", response={"id": "r", "usage": usage | details})
        self.close_connection = True

    def _event(self, kind: str, **data: Any) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())


class ResponsesApi(Loopback):
    """Each request takes one turn: a command for the shell if it starts with `$ `, else the final text."""

    handler = _Handler

    def __init__(self, *script: str) -> None:
        self.script = deque(script)
        self.seen: list[dict[str, Any]] = []

    def texts(self, request: int) -> str:
        """Everything that the model was told in this request, as one text."""
        return json.dumps(self.seen[request]["input"], ensure_ascii=False)

    def item(self, body: dict[str, Any]) -> dict[str, Any]:
        self.seen.append(body)
        turn = self.script.popleft() if self.script else "the script has ended"
        if not turn.startswith("$ "):
            content = [{"type": "output_text", "text": turn}]
            return {"type": "message", "role": "assistant", "id": "m", "content": content}
        call = {"type": "function_call", "id": "f", "call_id": f"call-{len(self.seen)}", "name": "exec_command"}
        return {**call, "arguments": json.dumps({"cmd": turn.removeprefix("$ ")})}
