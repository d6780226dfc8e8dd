"""Node knowledge and the validation of parameters against a real n8n and its own MCP server."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from tests.n8n.caller import Caller, Instance, calling, chain, node
from tests.real.n8n_server import RealN8n

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def call(n8n: RealN8n, tmp_path: Path) -> AsyncIterator[Caller]:
    async with calling(Instance(n8n.url, n8n.key), tmp_path, mcp_token=SecretStr(n8n.mcp_token)) as caller:
        yield caller


@pytest.mark.req("NP-1")
async def test_find_and_describe_nodes(call: Caller) -> None:
    found = (await call("find_nodes", query="slack")).data["nodes"]
    slack = next(row for row in found if row["type"] == "n8n-nodes-base.slack")
    assert "post" in slack["operations"]["message"]
    assert slack["version"] >= 2
    listed = (await call("describe_node", type="slack")).data["operations"]
    assert {name: sorted(own) for name, own in listed.items()} == {
        name: sorted(own) for name, own in slack["operations"].items()
    }
    for arguments in (
        {"type": "slack", "operation": "message.post"},
        {"type": "slack", "operation": "userGroup.getAll"},
        {"type": "httpRequest", "version": 4.2},
        {"type": "scheduleTrigger"},
        {"type": "set", "operation": "manual"},
        {"type": "if"},
        {"type": "langchain.agent"},
    ):
        answer = await call("describe_node", **arguments)
        assert len(answer.text) <= 2_000
        assert answer.data["parameters"]
        assert len((await call("describe_node", **arguments, raw=True)).text) > 1_000


@pytest.mark.req("NP-2")
async def test_wrong_parameters_are_refused_with_the_allowed_values(call: Caller) -> None:
    wrong = {"method": "FETCH", "url": 5}
    nodes = [
        node(
            "毎日",
            "n8n-nodes-base.scheduleTrigger",
            typeVersion=1.2,
            parameters={"rule": {"interval": [{"field": "x"}]}},
        ),
        node("取得", "n8n-nodes-base.httpRequest", typeVersion=4.2, parameters=wrong),
    ]
    refused = await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain("毎日", "取得"))
    for part in (
        "'毎日': parameters.rule.interval[0].field must be one of seconds, minutes, hours, days",
        "'取得': parameters.method must be one of DELETE, GET,",
        "'取得': parameters.url must be of type string, not number",
    ):
        assert part in refused.error
    nodes[0]["parameters"], nodes[1]["parameters"] = {}, {"method": "GET", "url": "http://127.0.0.1:9"}
    made = (await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain("毎日", "取得"))).data
    operations = [{"op": "setField", "node": "取得", "path": "parameters.method", "value": "FETCH"}]
    assert "must be one of DELETE" in (await call("patch_workflow", id=made["id"], operations=operations)).error
    assert (await call("validate_workflow", id=made["id"])).data["valid"] is True


@pytest.mark.req("NP-4")
async def test_versions_are_listed_compared_and_restored(call: Caller) -> None:
    nodes = [node("開始", "n8n-nodes-base.manualTrigger"), node("取得", "n8n-nodes-base.code", typeVersion=2)]
    made = (await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain("開始", "取得"))).data
    operations = [{"op": "setField", "node": "取得", "path": "parameters.jsCode", "value": "return []"}]
    await call("patch_workflow", id=made["id"], operations=operations)
    rows = (await call("list_versions", id=made["id"])).data["versions"]
    assert [row["source"] for row in rows] == ["n8n", "backup", "n8n"]
    assert "current" in rows[0]
    for row in rows[1:]:
        found = (await call("compare_versions", id=made["id"], **{"from": row["version"]})).data
        assert found["changed"] == {"取得": ["parameters.jsCode"]}
    restored = (await call("restore_version", id=made["id"], version=rows[-1]["version"])).data
    assert restored["changed"] == ["nodes"]
    again = (await call("compare_versions", id=made["id"], **{"from": rows[-1]["version"]})).data
    assert again["same"] is True
    assert (await call("restore_version", id=made["id"], version="none")).code == "n8n.version_not_found"


@pytest.mark.req("NP-4")
async def test_credentials_are_listed_without_secrets(call: Caller, n8n: RealN8n) -> None:
    secret = {"name": "X-Key", "value": "s3cret-value"}
    body = {"name": "店 header", "type": "httpHeaderAuth", "data": secret}
    assert n8n.rest.call("POST", "/rest/credentials", body)[0] == 200
    answer = await call("list_credentials", query="店")
    (row,) = answer.data["credentials"]
    assert (row["name"], row["type"], sorted(row)) == ("店 header", "httpHeaderAuth", ["id", "name", "type"])
    assert "s3cret" not in answer.text
