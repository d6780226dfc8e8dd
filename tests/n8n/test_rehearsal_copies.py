"""The copies of `rehearse_change`: none is left, whatever happens, and no workflow of a user is taken for one."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr
from tests.app.processes import StdioServer
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.caller import Caller, Instance, Json, calling, node
from tests.n8n.failing import SET, failing, names, parameters

from chie.n8n.rehearsal import copies as copies_module

pytestmark = pytest.mark.req("NP-3")


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"mcp_token": SecretStr(TOKEN), "home": tmp_path / "home"}


@pytest.fixture(autouse=True)
async def nothing_left(fake: FakeN8n, tmp_path: Path) -> AsyncIterator[None]:
    """After every test: no copy in n8n, and nothing on disk that stands for one."""
    yield
    assert [name for name in names(fake) if name.startswith("chie-rehearsal")] == []
    assert list((tmp_path / "home").rglob("*.lock")) == []


async def test_lost_response_to_the_creation_leaves_no_copy(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.fail("POST", "/workflows", 502, stored=True)
    assert (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).code == "n8n.server_error"


async def test_cancelled_rehearsal_leaves_no_copy(call: Caller, fake: FakeN8n, tmp_path: Path) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.runner.proceed.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call("rehearse_change", id=workflow_id, patch=parameters("A")))
        await anyio.to_thread.run_sync(fake.runner.reached.wait)
        tasks.cancel_scope.cancel()
    fake.runner.proceed.set()
    with anyio.fail_after(10):
        while len(fake.workflows) > 1 or list((tmp_path / "home").rglob("*.lock")):  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_copy_that_could_not_be_removed_is_removed_at_the_next_start(
    instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path
) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.fail("DELETE", "", 500)
    async with calling(instance, tmp_path, **settings) as call:
        assert (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data["outcome"] == "fixed"
    assert len(fake.workflows) == 2
    await restarted(instance, fake, settings, tmp_path)


async def restarted(instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path) -> None:
    """Start the server until it has removed what was left."""
    async with calling(instance, tmp_path, **settings):
        with anyio.fail_after(10):
            while len(fake.workflows) > 1 or list((tmp_path / "home").rglob("*.lock")):  # noqa: ASYNC110
                await anyio.sleep(0.01)


async def test_copy_of_a_process_that_was_killed_is_removed_at_the_next_start(
    instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the process lives, no other one touches its copy."""
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.runner.proceed.clear()
    values = {"N8N_URL": fake.url, "N8N_API_KEY": KEY, "N8N_MCP_TOKEN": TOKEN, "CHIE_HOME": str(tmp_path / "home")}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    arguments = {"id": workflow_id, "patch": parameters("A")}
    with StdioServer("n8n-mcp-server") as server:
        params = {"name": "rehearse_change", "arguments": arguments}
        server.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
        assert await anyio.to_thread.run_sync(fake.runner.reached.wait, 60)
        async with calling(instance, tmp_path, **settings) as call:
            await call("n8n_health")
            assert len(fake.workflows) == 2
        server.process.kill()
    fake.runner.proceed.set()
    await restarted(instance, fake, settings, tmp_path)


async def test_workflow_of_a_user_is_never_taken_for_a_copy(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    copied: list[Json] = []
    run = fake.mcp.tools["test_workflow"]

    def observed(arguments: Json) -> Json:
        copied.append(json.loads(json.dumps(fake.workflows[arguments["workflowId"]])))
        return run(arguments)

    fake.mcp.tools["test_workflow"] = observed
    long_ago = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    fake.add_workflow(name="chie-rehearsal 注文", createdAt=long_ago)
    await call("rehearse_change", id=workflow_id, patch=parameters("A"))
    mark = copied[0]
    assert copies_module.is_copy(mark)
    assert mark["settings"]["availableInMCP"] is True
    for change in ({"nodes": mark["nodes"][:-1]}, {"active": True}, {"name": mark["name"][:-1] + "x"}):
        assert not copies_module.is_copy({**mark, **change})
    assert "chie-rehearsal 注文" in names(fake)
    fake.workflows = {key: own for key, own in fake.workflows.items() if own["name"] == "注文"}


async def test_old_copy_of_another_machine_is_removed_and_a_new_one_is_not(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    old, new = "0" * 32, "1" * 32
    for token, age in ((old, timedelta(hours=1)), (new, timedelta(minutes=1))):
        body = copies_module.marked({"nodes": [], "connections": {}, "settings": {}}, token)
        fake.add_workflow(**body, createdAt=(datetime.now(UTC) - age).isoformat())
    await call("rehearse_change", id=workflow_id, patch=parameters("A"))
    left = [name for name in names(fake) if name.startswith("chie-rehearsal")]
    assert [new in name for name in left] == [True]
    fake.workflows.clear()
