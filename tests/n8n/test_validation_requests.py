"""Which nodes are sent to n8n for the validation of their parameters, and in how many requests."""

import json

import pytest
from pydantic import SecretStr
from tests.fakes.n8n import FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.caller import Caller, Json, node
from tests.n8n.test_nodes import ERRORS, START, WRONG, flow, request

from chie.n8n.http import Endpoint
from chie.n8n.instance.client import InstanceClient
from chie.n8n.nodes import config_checks
from chie.n8n.nodes.config_checks import ConfigChecks, NodeConfig


def validated(fake: FakeN8n) -> list[list[Json]]:
    """The nodes of each request for a validation; the requests are forgotten."""
    found = [arguments["nodes"] for name, arguments in fake.mcp.calls if name == "validate_node_config"]
    fake.mcp.calls.clear()
    return found


def numbered(count: int) -> list[Json]:
    return [node(f"n{number}", parameters={"番号": number}) for number in range(count)]


def set_number(name: str, value: int) -> list[Json]:
    return [{"op": "setField", "node": name, "path": "parameters.番号", "value": value}]


@pytest.mark.req("NP-2")
async def test_nodes_are_validated_in_batches_and_tools_as_tools(known: Caller, fake: FakeN8n) -> None:
    off, tool = node("off", disabled=True, parameters={"off": 1}), node("ツール", parameters={"番号": 0})
    link = {"ツール": {"ai_tool": [[{"node": "n0", "type": "ai_tool", "index": 0}]]}}
    await known("validate_workflow", nodes=[START, *numbered(118), off, tool], connections=link)
    sent = validated(fake)
    assert sorted(len(batch) for batch in sent) == [20, 50, 50]
    assert [one["parameters"] for batch in sent for one in batch if one.get("isToolNode")] == [{"番号": 0}]
    assert {"off": 1} not in [one["parameters"] for batch in sent for one in batch]


@pytest.mark.req("NP-2")
async def test_answers_for_the_same_parameters_are_kept(known: Caller, fake: FakeN8n) -> None:
    twins = [node(f"n{number}", parameters={"値": 1}) for number in range(80)]
    for _ in range(2):
        await known("validate_workflow", nodes=[START, *twins, request(**WRONG)], connections={})
    assert [len(batch) for batch in validated(fake)] == [3]
    found = (await known("validate_workflow", nodes=[START, request(**WRONG)], connections={})).data
    assert found["errors"] == ERRORS.split("; ")
    assert validated(fake) == []


@pytest.mark.req("NP-2")
async def test_change_in_a_large_workflow_sends_one_request(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(name="大きい", nodes=[START, *numbered(500)], connections={})
    await known("patch_workflow", id=stored["id"], operations=set_number("n499", 1000))
    (batch,) = validated(fake)
    assert len(batch) == 50
    assert [one["parameters"] for one in batch[:2]] == [{"番号": 1000}, {"番号": 499}]  # the stored one explains errors
    wrong = [{"op": "setField", "node": "n7", "path": "parameters.url", "value": 5}]
    refused = await known("patch_workflow", id=stored["id"], operations=wrong)
    assert "'n7': parameters.url must be of type string, not number" in refused.error
    assert [len(batch) for batch in validated(fake)] == [50]


@pytest.mark.req("NP-2")
async def test_changes_of_many_nodes_are_all_validated(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(name="大きい", nodes=numbered(120), connections={})
    changed = [{**one, "parameters": {"url": number}} for number, one in enumerate(stored["nodes"])]
    refused = await known("update_workflow", id=stored["id"], nodes=changed)
    assert refused.error.count("must be of type string, not number") == 120
    sent = [one["parameters"] for batch in validated(fake) for one in batch]
    assert len(sent) == len({json.dumps(one) for one in sent})
    assert all({"url": number} in sent for number in range(120))


@pytest.mark.req("NP-2")
async def test_moved_node_is_not_validated_again(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(**flow(**WRONG))
    for at in ([0, 0], [10, 10], [20, 20]):
        moved = [{"op": "updateNode", "name": "取得", "changes": {"position": at}}]
        answer = (await known("patch_workflow", id=stored["id"], operations=moved)).data
        if at != [0, 0]:
            assert [note for note in answer["notes"] if "parameters." in note] == ERRORS.split("; ")
    assert len(validated(fake)) == 1


@pytest.mark.req("NP-2")
async def test_enabled_node_with_wrong_parameters_is_refused(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(**{**flow(), "nodes": [START, {**request(**WRONG), "disabled": True}]})
    enabled = [{"op": "updateNode", "name": "取得", "changes": {"disabled": False}}]
    assert ERRORS in (await known("patch_workflow", id=stored["id"], operations=enabled)).error


@pytest.mark.req("NP-2")
async def test_answers_expire_and_are_limited(fake: FakeN8n, monkeypatch: pytest.MonkeyPatch) -> None:
    """n8n may be upgraded while Chie runs."""
    monkeypatch.setattr(config_checks, "MAX_ANSWERS", 3)
    configs = [NodeConfig.of(one, is_tool=False) for one in numbered(5)]
    instance = InstanceClient(Endpoint(fake.url, SecretStr(TOKEN), {}))
    clock = iter([0.0, 1.0, 1.0, config_checks.KEEP_SECONDS + 1, config_checks.KEEP_SECONDS + 1])
    checks = ConfigChecks(instance, clock=lambda: next(clock))
    assert set(await checks.errors(configs)) == set(configs)
    assert set(await checks.errors(configs)) == set(configs)  # two were dropped
    assert set(await checks.errors(configs)) == set(configs)  # all are too old
    await instance.aclose()
    assert [len(batch) for batch in validated(fake)] == [5, 2, 5]


@pytest.mark.req("NP-2")
async def test_change_does_not_wait_for_an_n8n_that_is_stuck(known: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_checks, "TIMEOUT_SECONDS", -0.9999)
    made = (await known("create_workflow", **flow(**WRONG))).data
    (note,) = [note for note in made["notes"] if "validated" in note]
    assert "TimeoutError" in note
