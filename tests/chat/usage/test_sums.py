"""Whatever happens, the recorded tokens are those that the model's server has reported."""

from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest
from sqlalchemy import URL
from tests.chat.usage.test_recording import opened, usage
from tests.fakes.model_app import ModelApp
from tests.fakes.model_server import Refuse, Use, say, use
from tests.fakes.sse import parse

pytestmark = pytest.mark.req("AG-13")

COUNTS = ("requests", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Sequence:
    """Random answers, with tool rounds, refusals, branches and clients of `/v1`; `reported` sums the usage."""

    def __init__(self, app: ModelApp, client: httpx2.AsyncClient, seed: int) -> None:
        self._app, self._client = app, client
        self._random = Random(seed)  # noqa: S311
        self._answers: list[str] = []
        self._sessions: list[str] = []
        self.reported = dict.fromkeys(COUNTS, 0)

    def _usage(self) -> None:
        given, made = self._random.randrange(1, 90_000), self._random.randrange(1, 9_000)
        cached, thought = self._random.randrange(given), self._random.randrange(made)
        self._app.openai.usages.append(
            {
                "prompt_tokens": given,
                "completion_tokens": made,
                "total_tokens": given + made,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens_details": {"reasoning_tokens": thought},
            }
        )
        for name, count in zip(COUNTS, (1, given, cached, made, thought), strict=True):
            self.reported[name] += count

    def _script(self) -> None:
        for _ in range(self._random.randrange(3)):
            self._app.openai.script.append(use(*[Use("echo", '{"text": "x"}')] * self._random.randrange(1, 3)))
            self._usage()
        if self._random.random() < 0.25:
            self._app.openai.script.append(Refuse(self._random.choice((400, 401, 429, 500))))
            return
        self._app.openai.script.append(say("答え", "."))
        self._usage()

    async def step(self) -> None:
        self._script()
        agent = {"agent_id": "tools"}
        match self._random.choice(("ask", "again", "edit", "continue", "v1", "delete")):
            case "v1":
                body = {"model": "tools", "messages": [{"role": "user", "content": "x"}]}
                await self._client.post("/v1/chat/completions", json=body | {"stream": self._random.random() < 0.5})
            case "again" if self._answers:
                await self._post(f"/api/chat/{self._random.choice(self._answers)}/regenerate", agent)
            case "continue" if self._sessions:
                body = {"message": "さらに？", "session_id": self._random.choice(self._sessions), **agent}
                await self._post("/api/chat/stream", body)
            case "delete" if self._sessions:
                gone = self._sessions.pop(self._random.randrange(len(self._sessions)))
                await self._client.delete(f"/api/sessions/{gone}")
                self._answers.clear()
                await self._post("/api/chat/stream", {"message": "なぜ？", **agent})
            case _:
                await self._post("/api/chat/stream", {"message": "なぜ？", **agent})

    async def _post(self, path: str, body: dict[str, Any]) -> None:
        response = await self._client.post(path, json=body)
        assert response.status_code == 200, response.text
        self._answers.append(response.headers["x-chie-message"])
        self._sessions.append(response.headers["x-chie-session"])
        self._sessions = list(dict.fromkeys(self._sessions))
        done = parse(response.text)[-1]
        again = await self._client.get(f"/api/chat/stream/{self._answers[-1]}", params={"after": 0})
        assert parse(again.text)[-1].data == done.data  # reading again counts nothing


@pytest.mark.parametrize("seed", range(3))
async def test_sum_equals_what_the_server_reported(
    both: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    async with opened(tmp_path, monkeypatch, both) as (app, client):
        sequence = Sequence(app, client, seed)
        for _ in range(12):
            await sequence.step()
        total = (await usage(client))["total"]
        assert not app.openai.script
        assert {name: total[name] for name in COUNTS} == sequence.reported
        assert total["estimated_requests"] == 0
        for groups in ("days", "models", "agents", "users"):
            found = await usage(client)
            assert sum(group["input_tokens"] for group in found[groups]) == sequence.reported["input_tokens"]
