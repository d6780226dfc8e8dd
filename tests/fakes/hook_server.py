"""A server on loopback that takes hook calls as Chie does, and records them."""

import json
from dataclasses import dataclass
from threading import Event
from typing import Any

from tests.fakes.loopback import Handler, Loopback


@dataclass(frozen=True)
class Call:
    path: str
    headers: dict[str, str]
    body: Any


class _Handler(Handler):
    owner: "HookServer"

    def get(self) -> None:
        self._take({})

    def post(self) -> None:
        self._take(json.loads(self.body() or b"{}"))

    def _take(self, body: dict[str, Any]) -> None:
        owner = self.owner
        owner.calls.append(Call(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if owner.stalled:
            owner.closing.wait()
            self.close_connection = True
            return
        answer = owner.answers.get(body.get("hook_event_name") or self.path)
        content = answer if isinstance(answer, bytes) else b"" if answer is None else json.dumps(answer).encode()
        self.send_response(owner.status if content or owner.status != 200 else 204)
        if content:
            self.send_header("content-type", "application/json")
        if content or owner.status != 200:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class HookServer(Loopback):
    """`answers` has the response by event name: JSON, or bytes to send as they are. Other events get 204.

    With `status`, every call gets that status; with `stalled`, none is answered before the server closes.
    """

    handler = _Handler

    def __init__(self, answers: dict[str, Any] | None = None, *, status: int = 200, stalled: bool = False) -> None:
        self.answers = answers or {}
        self.status = status
        self.stalled = stalled
        self.calls: list[Call] = []
        self.closing = Event()

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        super().__exit__()

    def bodies(self, event: str) -> list[dict[str, Any]]:
        return [call.body for call in self.calls if call.body.get("hook_event_name") == event]
