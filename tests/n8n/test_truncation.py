"""A truncated text never overwrites the complete workflow, wherever it was truncated. Raw results never are."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Instance, calling, chain, node, order_flow

from chie.messages.catalogue import Message
from chie.n8n.truncation import truncate

PINS = {"Webhook": [{"json": {"番号": number, "text": "x" * 20}} for number in range(400)]}


ADVICE = Message("n8n.truncation_advice_workflow")


async def shortened(call: Caller, workflow_id: str, limit: int) -> dict[str, Any]:
    """The workflow as clients with a limit of their own show it."""
    cut = truncate((await call("get_workflow", id=workflow_id, raw=True)).data, limit, ADVICE)
    assert isinstance(cut, dict)
    return cut


def writes(fake: FakeN8n) -> list[str]:
    return [f"{seen.method} {seen.path}" for seen in fake.seen if seen.method != "GET"]


async def test_truncated_result_cannot_be_saved(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    flow = order_flow()
    flow["nodes"][0]["parameters"]["code"] = "長" * 9_000
    workflow = fake.add_workflow(**flow)
    async with calling(instance, tmp_path, max_chars=2_000) as call:
        cut = await shortened(call, workflow["id"], 2_000)
        assert "do not save it" in cut["truncated"]
        assert "unknown argument" in (await call("update_workflow", **cut)).error
        only = await call("update_workflow", id=workflow["id"], nodes=cut["nodes"], connections={})
        assert "that was truncated in a result" in only.error
    assert writes(fake) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pinData", PINS),
        ("pinData", {"Webhook": [{"json": {f"k{number}": "長い値" for number in range(900)}}]}),
        ("staticData", {"global": {"seen": list(range(2_000))}}),
        ("settings", {"callerIds": "w" * 5_000}),
        ("description", "説明" * 3_000),
        ("tags", [{"id": str(number), "name": f"札{number}"} for number in range(300)]),
    ],
)
async def test_no_part_of_a_truncated_result_can_be_saved(
    instance: Instance, fake: FakeN8n, tmp_path: Path, key: str, value: Any
) -> None:
    workflow = fake.add_workflow(**order_flow() | {key: value})
    async with calling(instance, tmp_path, max_chars=5_000) as call:
        cut = await shortened(call, workflow["id"], 5_000)
        assert cut.pop("truncated")
        answer = await call("update_workflow", **{**cut, "name": "別名"})
        assert f"{key}: contains a part that was truncated in a result, and nothing was changed." in answer.error
    assert writes(fake) == []


async def test_node_with_truncated_keys_cannot_be_saved(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    flow = order_flow()
    flow["nodes"][0]["parameters"]["map"] = {f"鍵{number}": "v" for number in range(1_000)}
    workflow = fake.add_workflow(**flow)
    async with calling(instance, tmp_path, max_chars=8_000) as call:
        cut = await shortened(call, workflow["id"], 8_000)
        saved = await call("update_workflow", id=workflow["id"], nodes=cut["nodes"])
        made = await call("create_workflow", name="n", nodes=cut["nodes"], connections={})
        found = (await call("validate_workflow", nodes=cut["nodes"], connections={})).data
        (tmp_path / "f.json").write_text(json.dumps({**cut, "pinData": PINS}), encoding="utf-8")
        read = await call("create_workflow_from_file", filePath=str(tmp_path / "f.json"))
        put = await call("replace_workflow_from_file", id=workflow["id"], filePath=str(tmp_path / "f.json"))
    for answer in (saved, made, read, put):
        assert "that was truncated in a result" in answer.error
    assert any("nodes[0] contains a part that was truncated in a result" in error for error in found["errors"])
    assert writes(fake) == []


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "setField", "path": "pinData.Webhook", "value": [{"json": {}}, "⟦cut 300 of 400 items⟧"]},
        {"op": "setField", "path": "staticData", "value": {"⟦cut⟧": "6 of 9 entries"}},
        {"op": "updateNode", "name": "End", "changes": {"parameters": {"⟦cut⟧": "6 of 9 entries"}}},
        {"op": "addNode", "node": node("New", parameters={"code": "x⟦cut 9 of 10 characters⟧"})},
    ],
)
async def test_operation_with_a_truncated_value_is_rejected(
    call: Caller, fake: FakeN8n, operation: dict[str, Any]
) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = await call("patch_workflow", id=workflow["id"], operations=[operation])
    assert answer.error == (
        f"operations[0] ({operation['op']}): The value contains a part that was truncated in a result. Read it "
        "completely with `get_workflow` and raw=true, or pass only what changes. Nothing was changed."
    )
    assert writes(fake) == []


async def test_stored_truncation_mark_can_be_read_passed_back_and_removed(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    flow["nodes"][2]["parameters"] = {"a": 1, "⟦cut⟧": "6 of 9 entries"}
    workflow = fake.add_workflow(**flow, staticData={"global": "x⟦cut 9 of 10 characters⟧"})
    raw = (await call("get_workflow", id=workflow["id"], raw=True)).data
    assert (await call("update_workflow", **{**raw, "name": "別名"})).data["changed"] == ["name"]
    operation = {"op": "updateNode", "name": "End", "changes": {"parameters": {"⟦cut⟧": None}}}
    assert not (await call("patch_workflow", id=workflow["id"], operations=[operation])).is_error
    assert fake.workflows[workflow["id"]]["nodes"][2]["parameters"] == {"a": 1}


@pytest.mark.req("NW-3")
@pytest.mark.parametrize("active", [False, True])
async def test_raw_is_whole_whatever_its_size_and_accepted_back_unchanged(
    instance: Instance, fake: FakeN8n, tmp_path: Path, *, active: bool
) -> None:
    names = ["Webhook", *(f"手順 {number}" for number in range(1, 500))]
    flow = order_flow("五百の手順")
    flow["nodes"] = [flow["nodes"][0], *(node(name, parameters={"説明": "長い" * 200}) for name in names[1:])]
    flow["connections"] = chain(*names)
    workflow = fake.add_workflow(**flow, active=active, pinData=PINS, tags=[{"id": "1", "name": "大"}])
    async with calling(instance, tmp_path, max_chars=2_000) as call:
        raw = (await call("get_workflow", id=workflow["id"], raw=True)).data
        assert raw == fake.workflows[workflow["id"]]
        again = (await call("update_workflow", **raw)).data
        assert again["steps"] == ["nothing to change: n8n already has this state"]
        assert "notes" not in again
        changed = (await call("update_workflow", **{**raw, "name": "別名"}, raw=True)).data
        assert (changed["changed"], changed["workflow"]["nodes"]) == (["name"], raw["nodes"])
        one = (await call("get_workflow", id=workflow["id"], nodeName=names[-1], raw=True)).data
        assert one["node"] == raw["nodes"][-1]
        drawn = await call("get_workflow_connections", id=workflow["id"], raw=True)
        assert drawn.data["rawConnections"] == raw["connections"]
        assert len(drawn.blocks) == 2
        short = await call("get_workflow", id=workflow["id"])
    assert len(short.text) <= 2_000
    assert "raw=true returns everything" in short.data["truncated"]
