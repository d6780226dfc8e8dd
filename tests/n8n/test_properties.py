"""Properties of any workflow: nothing is lost, and a patch keeps everything it does not name."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.workflows import Json, names, objects, values, workflows

from chie.n8n.errors import ValidationError
from chie.n8n.graph import each_connection
from chie.n8n.merge import Change, merge
from chie.n8n.patch import apply_all, read_operations
from chie.n8n.registry import ToolRegistry, create_registry
from chie.n8n.server import create_client, create_context
from chie.n8n.settings import N8nSettings
from chie.n8n.validation import validate

MANY = settings(max_examples=60, suppress_health_check=list(HealthCheck))
Call = Callable[..., Coroutine[Any, Any, Json]]


@pytest.fixture(params=["new", "old"])
def any_n8n(request: pytest.FixtureRequest, new_n8n: FakeN8n, old_n8n: FakeN8n) -> FakeN8n:
    return new_n8n if request.param == "new" else old_n8n


class ScenarioRunner:
    """Runs scenarios that call tools against n8n over HTTP, with one event loop and one pool per test."""

    def __init__(self, n8n: FakeN8n, folder: Path) -> None:
        self.n8n = n8n
        settings_ = N8nSettings(url=n8n.url, api_key=SecretStr(KEY), backup_dir=folder, max_chars=10**6)
        self._client = create_client(settings_)
        self._call = caller(create_registry(create_context(settings_, self._client)))
        self._runner = asyncio.Runner()

    def run(self, scenario: Callable[[Call], Coroutine[Any, Any, None]]) -> None:
        self._runner.run(scenario(self._call))

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@pytest.fixture
def runner(any_n8n: FakeN8n, tmp_path: Path) -> Iterator[ScenarioRunner]:
    runner = ScenarioRunner(any_n8n, tmp_path)
    yield runner
    runner.close()


def caller(registry: ToolRegistry) -> Call:
    async def call(tool: str, **arguments: Any) -> Json:
        response = await registry.get(tool).handler(arguments)
        text = response["content"][0]["text"]
        assert "isError" not in response, text
        answer: Json = json.loads(text)
        return answer

    return call


@pytest.mark.req("NW-3")
@MANY
@given(workflow=workflows())
def test_any_workflow_can_be_read_and_written_back(runner: ScenarioRunner, workflow: Json) -> None:
    async def scenario(call: Call) -> None:
        stored = runner.n8n.reset().add_workflow(**workflow)
        before = await call("get_workflow", id=stored["id"], raw=True)
        await call("update_workflow", **before)
        assert await call("get_workflow", id=stored["id"], raw=True) == before
        assert [seen.method for seen in runner.n8n.seen] == ["GET"] * 3

    runner.run(scenario)


@pytest.mark.req("NW-3")
@MANY
@given(workflow=workflows(), name=names)
def test_any_workflow_is_preserved_by_a_save(runner: ScenarioRunner, workflow: Json, name: str) -> None:
    """A rename makes n8n store everything anew: all of it must come back as it was."""

    async def scenario(call: Call) -> None:
        stored = runner.n8n.reset().add_workflow(**workflow)
        before = await call("get_workflow", id=stored["id"], raw=True)
        await call("update_workflow", **{**before, "name": f"{name}!"})
        after = await call("get_workflow", id=stored["id"], raw=True)
        assert after["name"] == f"{name}!"
        moving = {"name", "updatedAt", "versionId"}
        assert {k: v for k, v in after.items() if k not in moving} == {
            k: v for k, v in before.items() if k not in moving
        }

    runner.run(scenario)


@MANY
@given(workflow=workflows(), value=values, key=st.sampled_from(["url", "a.b", "list[0]", "/x.y/~1z"]))
def test_set_field_changes_only_that_field(runner: ScenarioRunner, workflow: Json, value: Any, key: str) -> None:
    async def scenario(call: Call) -> None:
        stored = runner.n8n.reset().add_workflow(**workflow)
        before = await call("get_workflow", id=stored["id"], raw=True)
        own = before["nodes"][0]
        own["parameters"].pop(key.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0].strip("/"), None)
        runner.n8n.workflows[stored["id"]]["nodes"] = before["nodes"]
        path = f"/parameters{key}" if key.startswith("/") else f"parameters.{key}"
        operations = [{"op": "setField", "node": own["name"], "path": path, "value": value}]
        await call("patch_workflow", id=stored["id"], operations=operations)
        after = await call("get_workflow", id=stored["id"], raw=True)
        assert after["nodes"][1:] == before["nodes"][1:]
        assert after["connections"] == before["connections"]
        changed = after["nodes"][0]
        assert {k: v for k, v in changed.items() if k != "parameters"} == {
            k: v for k, v in own.items() if k != "parameters"
        }
        assert own["parameters"].items() <= changed["parameters"].items()
        assert len(changed["parameters"]) == len(own["parameters"]) + 1

    runner.run(scenario)


def patched(workflow: Json, *operations: Json) -> Json:
    ready: Any = read_operations(list(operations))
    return apply_all(workflow, ready)


@MANY
@given(workflow=workflows())
def test_rename_and_rename_back_is_no_change(workflow: Json) -> None:
    old, fresh = workflow["nodes"][0]["name"], "まったく新しい 'name'"
    there = patched(workflow, {"op": "renameNode", "name": old, "newName": fresh})
    assert validate(there["nodes"], there["connections"]).errors == []
    assert old not in [node["name"] for node in there["nodes"]]
    back = patched(there, {"op": "renameNode", "name": fresh, "newName": old})
    assert back == workflow


@MANY
@given(workflow=workflows())
def test_remove_node_keeps_the_others_and_leaves_valid_connections(workflow: Json) -> None:
    gone = workflow["nodes"][0]
    after = patched(workflow, {"op": "removeNode", "name": gone["id"]})
    assert after["nodes"] == workflow["nodes"][1:]
    assert validate(after["nodes"], after["connections"]).errors == []
    left = [edge for edge in each_connection(workflow["connections"]) if gone["name"] not in (edge[0], edge[3]["node"])]
    assert list(each_connection(after["connections"])) == left


@MANY
@given(workflow=workflows(), output=st.integers(0, 4), index=st.integers(0, 3))
def test_connect_and_disconnect_keeps_the_others(workflow: Json, output: int, index: int) -> None:
    first, last = workflow["nodes"][0]["name"], workflow["nodes"][-1]["name"]
    link = {"from": first, "to": last, "output": output, "input": index}
    edge = (first, "main", output, {"node": last, "type": "main", "index": index})
    before = [own for own in each_connection(workflow["connections"]) if own != edge]
    made = patched(workflow, {"op": "connect", **link})
    assert edge in each_connection(made["connections"])
    assert validate(made["nodes"], made["connections"]).errors == []
    cut = patched(made, {"op": "disconnect", **link})
    assert list(each_connection(cut["connections"])) == before
    assert cut["nodes"] == workflow["nodes"]


@MANY
@given(workflow=workflows(), changes=objects)
def test_update_node_keeps_other_keys_and_nodes(workflow: Json, changes: Json) -> None:
    own = workflow["nodes"][0]
    after = patched(workflow, {"op": "updateNode", "name": own["id"], "changes": {"parameters": changes}})
    new = after["nodes"][0]
    assert {k: v for k, v in new.items() if k != "parameters"} == {k: v for k, v in own.items() if k != "parameters"}
    assert after["nodes"][1:] == workflow["nodes"][1:]
    kept = {key: value for key, value in own["parameters"].items() if key not in changes}
    assert kept.items() <= new["parameters"].items()


@MANY
@given(workflow=workflows(), number=st.integers(0, 4))
def test_node_given_by_name_only_is_unchanged(workflow: Json, number: int) -> None:
    stored = {**workflow, "id": "x"}
    short = [{"name": node["name"]} if index == number else node for index, node in enumerate(workflow["nodes"])]
    merged = merge(stored, Change({"nodes": short}))
    assert merged.changed == []
    assert merged.body["nodes"] == workflow["nodes"]


@MANY
@given(path=st.text(max_size=20), value=values, workflow=workflows())
def test_any_path_is_applied_or_rejected(path: str, value: Any, workflow: Json) -> None:
    """The operation succeeds or raises a ValidationError, and then nothing is changed."""
    before = json.dumps(workflow)
    text = "Nothing was changed."
    try:
        patched(workflow, {"op": "setField", "node": workflow["nodes"][0]["id"], "path": path, "value": value})
    except ValidationError as error:
        text = error.message
    assert text.endswith("Nothing was changed.")
    assert json.dumps(workflow) == before
