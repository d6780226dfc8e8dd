"""`rehearse_change` on a real n8n: seeded failures, each fixed by a patch that the rehearsal proves."""

from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from pydantic import SecretStr
from tests.n8n.caller import Caller, Instance, Json, calling, chain, node
from tests.real.n8n_server import RealN8n

from bench import rehearsals

pytestmark = [pytest.mark.real, pytest.mark.req("NP-3")]

BASE = "n8n-nodes-base."


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def call(n8n: RealN8n, tmp_path: Path) -> AsyncIterator[Caller]:
    async with calling(Instance(n8n.url, n8n.key), tmp_path, mcp_token=SecretStr(n8n.mcp_token)) as caller:
        yield caller


@dataclass
class Seed:
    """A workflow behind a webhook that fails on `order`, and the change that fixes it."""

    nodes: list[Json]
    patch: list[Json]
    failed: str
    connections: Json = field(default_factory=dict)
    order: Json = field(default_factory=lambda: {"顧客": "山田", "lines": [{"price": 120}]})


def assigned(name: str, value: str, kind: str = "string") -> Json:
    rows = [{"id": "1", "name": name, "value": value, "type": kind}]
    return {"assignments": {"assignments": rows}, "options": {}, "includeOtherFields": True}


def setter(name: str, field_name: str, value: str, kind: str = "string") -> Json:
    return node(name, f"{BASE}set", typeVersion=3.4, parameters=assigned(field_name, value, kind))


def sorted_by(name: str) -> Json:
    return {"sortFieldsUi": {"sortField": [{"fieldName": name, "order": "ascending"}]}, "options": {}}


def condition(left: str, right: Any, operation: str, kind: str = "number") -> Json:
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2}
    operator = {"type": kind, "operation": operation}
    rows = [{"id": "1", "leftValue": left, "rightValue": right, "operator": operator}]
    return {"conditions": {"options": options, "conditions": rows, "combinator": "and"}, "options": {}}


def replaced(name: str, parameters: Json) -> list[Json]:
    return [{"op": "setField", "node": name, "path": "parameters", "value": parameters}]


def seeds(url: str) -> dict[str, Seed]:
    price = "={{ $json.body.lines[0].price }}"
    return {
        "wrong expression": Seed(
            [setter("顧客名", "customer", "={{ $('Webhok').item.json.body['顧客'] }}"), node("End")],
            replaced("顧客名", assigned("customer", "={{ $('Hook').item.json.body['顧客'] }}")),
            "顧客名",
        ),
        "missing field": Seed(
            [node("並べ替え", f"{BASE}sort", parameters=sorted_by("body.total")), node("End")],
            replaced("並べ替え", sorted_by("body.lines[0].price")),
            "並べ替え",
        ),
        "changed API answer": Seed(
            [node("API", f"{BASE}httpRequest", typeVersion=4.2, parameters={"url": f"{url}/healthz", "options": {}}),
             node("Good", f"{BASE}if", typeVersion=2.2, parameters=condition("={{ $json.status }}", 400, "lt")),
             node("End")],
            replaced("Good", condition("={{ $json.status }}", "ok", "equals", "string")),
            "Good",
        ),
        "wrong type": Seed(
            [setter("Count", "count", "={{ $json.body['顧客'] }}", "number"), node("End")],
            replaced("Count", assigned("count", "={{ $json.body.lines.length }}", "number")),
            "Count",
        ),
        "If that went the other way": Seed(
            [node("Large", f"{BASE}if", typeVersion=2.2, parameters=condition(price, 100, "lt")),
             node("Accept"),
             node("Reject", f"{BASE}stopAndError", parameters={"errorMessage": "金額が大きすぎます"})],
            replaced("Large", condition(price, 100, "gt")),
            "Reject",
            {"Large": {"main": [[{"node": "Accept", "type": "main", "index": 0}],
                                [{"node": "Reject", "type": "main", "index": 0}]]}},
        ),
    }  # fmt: skip


async def fail(call: Caller, n8n: RealN8n, seed: Seed) -> tuple[str, str]:
    """Publish the workflow, send the order, and return the ids of the workflow and of the failed execution."""
    path = uuid4().hex
    hook = node("Hook", f"{BASE}webhook", typeVersion=2, parameters={"path": path, "httpMethod": "POST"})
    names = ["Hook", *(own["name"] for own in seed.nodes)]
    connections = {**chain(*names[:2]), **seed.connections} if seed.connections else chain(*names)
    made = await call("create_workflow", name=path, nodes=[hook, *seed.nodes], connections=connections, active=True)
    workflow_id = str(made.data["id"])
    async with httpx2.AsyncClient(trust_env=False) as http:
        with anyio.fail_after(30):
            while True:
                if (await http.post(f"{n8n.url}/webhook/{path}", json=seed.order)).status_code != 404:
                    break
                await anyio.sleep(0.1)
            while True:
                if rows := (await call("list_executions", workflowId=workflow_id)).data["executions"]:
                    break
                await anyio.sleep(0.1)
    assert rows[0]["status"] == "error", (await call("get_execution", id=rows[0]["id"], itemLimit=1)).text
    return workflow_id, str(rows[0]["id"])


async def copies(call: Caller) -> list[str]:
    rows = (await call("list_workflows", name="chie-rehearsal", limit=250)).data["workflows"]
    return [row["name"] for row in rows]


@pytest.mark.parametrize("name", list(seeds("")))
async def test_fix_is_proven_on_the_execution_that_failed(call: Caller, n8n: RealN8n, name: str) -> None:
    seed = seeds(n8n.url)[name]
    workflow_id, execution_id = await fail(call, n8n, seed)
    before = (await call("get_workflow", id=workflow_id, raw=True)).data

    unchanged = [{"op": "setField", "path": "settings.timezone", "value": "Asia/Tokyo"}]
    still = (await call("rehearse_change", id=workflow_id, patch=unchanged)).data
    assert (still["outcome"], still["failsNow"]["node"], still["execution"]) == (
        "still_failing", seed.failed, execution_id,
    )  # fmt: skip
    assert still["failsNow"]["message"] == still["failedBefore"]["message"]

    fixed = (await call("rehearse_change", id=workflow_id, patch=seed.patch, execution=execution_id)).data
    assert fixed["outcome"] == "fixed", fixed
    assert fixed["failedBefore"]["node"] == seed.failed
    assert await copies(call) == []
    after = (await call("get_workflow", id=workflow_id, raw=True)).data
    assert (after["versionId"], after["activeVersionId"]) == (before["versionId"], before["activeVersionId"])


def test_no_copy_is_left_when_processes_are_killed(
    n8n: RealN8n, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m bench.rehearsals` does the same with a hundred."""
    monkeypatch.setattr(rehearsals, "REHEARSALS", 8)
    for name, value in {"URL": n8n.url, "API_KEY": n8n.key, "MCP_TOKEN": n8n.mcp_token}.items():
        monkeypatch.setenv(f"N8N_{name}", value)
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "home"))
    with closing(rehearsals.Api(n8n)) as api:
        workflow_id, _ = rehearsals.fail(api, n8n)
        (left,) = rehearsals.measure_copies(api, tmp_path / "home", workflow_id)
    assert ("2 of them killed" in left.what, left.value) == (True, 0)
