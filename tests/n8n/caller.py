"""An MCP client on our server, and workflows to call it with."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import httpx2
from fastmcp import Client
from pydantic import SecretStr
from tests.fakes.n8n import KEY

from chie.n8n.client import N8nApiClient
from chie.n8n.http import Endpoint, HttpClient
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings

Json = dict[str, Any]
Era = Literal["auto", "legacy"]


@dataclass(frozen=True)
class Instance:
    """A running n8n; `transport` lets a test observe requests."""

    url: str
    key: str
    transport: httpx2.AsyncBaseTransport | None = None
    old: bool = False


@dataclass(frozen=True)
class Result:
    text: str
    is_error: bool
    blocks: list[str]
    details: Json | None

    @property
    def data(self) -> Json:
        assert not self.is_error, self.text
        data: Json = json.loads(self.text)
        return data

    @property
    def error(self) -> str:
        assert self.is_error, self.text
        return self.text

    @property
    def code(self) -> str:
        """The code of the error."""
        assert self.is_error, self.text
        assert self.details is not None
        return str(self.details["code"])


class Caller:
    """Calls tools through an MCP client."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client

    async def __call__(self, tool: str, /, **arguments: Any) -> Result:
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        texts = [block.text for block in result.content if block.type == "text"]
        return Result(texts[0], bool(result.is_error), texts, result.structured_content)


@asynccontextmanager
async def calling(instance: Instance, folder: Path, *, era: Era = "auto", **settings: Any) -> AsyncIterator[Caller]:
    chosen = N8nSettings(
        url=instance.url,
        api_key=SecretStr(instance.key),
        backup_dir=folder / "backups",
        file_roots=[folder],
        **settings,
    )
    client = N8nApiClient(HttpClient(Endpoint(instance.url, SecretStr(instance.key), {}), transport=instance.transport))
    async with Client(create_server(chosen, client=client), mode=era) as mcp:
        yield Caller(mcp)


def node(name: str, kind: str = "n8n-nodes-base.noOp", **rest: Any) -> Json:
    return {"name": name, "type": kind, "typeVersion": 1, "position": [0, 0], "parameters": {}, **rest}


def chain(*names: str) -> Json:
    """Connections from each node to the next."""
    return {one: {"main": [[{"node": other, "type": "main", "index": 0}]]} for one, other in pairwise(names)}


def order_flow(name: str = "注文 flow") -> Json:
    """Japanese and English text, a null parameter, a null output, an expression, and rarely used keys."""
    path = f"orders-{uuid4().hex[:8]}"
    return {
        "name": name,
        "nodes": [
            node("Webhook", "n8n-nodes-base.webhook", typeVersion=2, parameters={"path": path, "note": None}),
            node(
                "注文を整形",
                "n8n-nodes-base.set",
                typeVersion=3.4,
                parameters={"value": "={{ $('Webhook').item.json.body }}", "memo": None},
                onError="continueRegularOutput",
                retryOnFail=True,
                notes="金額は税込",
                credentials={"httpBasicAuth": {"id": "cred1", "name": "shop"}},
            ),
            node("End"),
        ],
        "connections": {
            "Webhook": {"main": [[{"node": "注文を整形", "type": "main", "index": 0}]]},
            "注文を整形": {"main": [None, [{"node": "End", "type": "main", "index": 0}]]},
        },
        "settings": {"executionOrder": "v1"},
    }


class Pauses(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def connect(url: str, pauses: Pauses | None = None, key: str = KEY, **headers: str) -> N8nApiClient:
    extra = {name.replace("_", "-"): SecretStr(value) for name, value in headers.items()}
    endpoint = Endpoint(url, SecretStr(key), extra, timeout=5)
    return N8nApiClient(HttpClient(endpoint, sleep=Pauses() if pauses is None else pauses))
