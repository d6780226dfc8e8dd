"""Tools that know n8n's nodes, and the validation of their parameters before every write."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse
from tests.fakes.n8n import FakeN8n
from tests.fakes.n8n_nodes import HTTP
from tests.n8n.caller import Caller, chain, node

HTTP_REQUEST = "n8n-nodes-base.httpRequest"
START = node("Start", "n8n-nodes-base.manualTrigger")


def request(**parameters: Any) -> dict[str, Any]:
    return node("取得", HTTP_REQUEST, typeVersion=4.5, parameters=parameters)


def flow(**parameters: Any) -> dict[str, Any]:
    return {"name": "注文", "nodes": [START, request(**parameters)], "connections": chain("Start", "取得")}


def writes(fake: FakeN8n) -> list[str]:
    return [seen.method for seen in fake.seen if seen.method != "GET"]


@pytest.mark.req("NP-1")
async def test_found_nodes_have_type_version_and_operations(known: Caller) -> None:
    answer = (await known("find_nodes", query="送信")).data
    assert answer["count"] == 4
    http, messenger, tool, setter = answer["nodes"]
    assert http == {
        "type": HTTP_REQUEST,
        "name": "HTTP Request",
        "version": 4.5,
        "description": "Makes an HTTP request and returns the response data",
    }
    assert messenger["operations"] == {"message": ["post", "getAll"], "userGroup": ["getAll"]}
    assert (messenger["version"], "operations" in tool) == (2, False)
    assert (setter["modes"], setter["trigger"], setter["version"]) == (["manual", "raw"], True, "odd")
    assert (await known("find_nodes", query="何もない")).data == {"count": 0, "nodes": []}


@pytest.mark.req("NP-1")
async def test_node_is_described_by_its_parameters(known: Caller) -> None:
    answer = await known("describe_node", type="httpRequest")
    assert len(answer.text) <= 2_000
    assert (answer.data["type"], answer.data["version"]) == (HTTP_REQUEST, "4.5")
    assert answer.data["parameters"] == [
        "type Pair = { name: string; value: unknown }",
        "method?: GET|POST = GET // The request method to use",
        "url: string // It's the URL that doesn't end; see { docs",
        "body?: Pair [if method=POST, /sendBody=true] // Body",
        "options?: object",
        "options.redirect?: object // Redirects",
        "options.redirect.follow?: all|none // Follow",
        "options.headers?: list of",
        "options.headers[].name?: string // Name",
        "options.headers[].kind?: stringValue|numberValue",
    ]
    raw = (await known("describe_node", type=HTTP_REQUEST, raw=True)).data
    assert raw["definition"] == HTTP


@pytest.mark.req("NP-1")
async def test_long_description_has_as_much_as_fits(known: Caller, fake: FakeN8n) -> None:
    long = "".join(f"/** {'説明' * 60} */\n    p{number}: string;\n" for number in range(60))
    text = f"/**\n * X Node - Version 1\n */\nexport interface XParams {{\n{long}}}"
    fake.mcp.tools["get_node_types"] = lambda _: {"definitions": text}
    answer = await known("describe_node", type="x")
    assert len(answer.text) <= 2_000
    assert (len(answer.data["parameters"]), answer.data["parameters"][-1]) == (60, "p59: string")
    fake.mcp.tools["get_node_types"] = lambda _: {"definitions": text.replace("p", "とても長い名前のパラメーター")}
    answer = await known("describe_node", type="y")
    assert len(answer.text) <= 2_000
    assert answer.data["note"] == "Some parameters were left out. raw=true returns all of them."


@pytest.mark.req("NP-1")
@pytest.mark.parametrize("operation", ["message.post", "message/post", "message: post", "post"])
async def test_operation_chooses_the_definition(known: Caller, operation: str) -> None:
    answer = (await known("describe_node", type="messenger", operation=operation)).data
    assert (answer["resource"], answer["operation"]) == ("message", "post")
    assert answer["parameters"][-1] == "text: string"


@pytest.mark.req("NP-1")
async def test_node_with_operations_lists_them_first(known: Caller) -> None:
    answer = (await known("describe_node", type="messenger")).data
    assert answer["operations"] == {"message": ["post", "getAll"], "userGroup": ["getAll"]}
    assert "Call again with operation" in answer["note"]
    lines = (await known("describe_node", type="set")).data["parameters"]
    assert lines == ["type Value = { a: 'x' | 'y' }", "mode: manual", "value?: Value", "mode: raw", "value?: Value"]
    assert (await known("describe_node", type="set", operation="raw", version=3.4)).data["mode"] == "raw"


@pytest.mark.req("NP-1")
@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (
            {"type": "messenger", "operation": "getAll"},
            "n8n.node_operation_unknown",
            "message.getAll, userGroup.getAll",
        ),
        ({"type": "messenger", "operation": "message.send"}, "n8n.node_operation_unknown", "It has post, getAll."),
        ({"type": "set", "operation": "odd"}, "n8n.node_operation_unknown", "It has manual, raw."),
        ({"type": "langchain.nothing"}, "n8n.node_type_not_found", "'@n8n/n8n-nodes-langchain.nothing'"),
    ],
)
async def test_unknown_node_or_operation_says_what_there_is(
    known: Caller, arguments: dict[str, Any], code: str, text: str
) -> None:
    answer = await known("describe_node", **arguments)
    assert (answer.code, text in answer.error) == (code, True)


@pytest.mark.req("NP-1")
async def test_definitions_are_asked_for_once(known: Caller, fake: FakeN8n) -> None:
    for _ in range(3):
        await known("describe_node", type="httpRequest")
    assert len(fake.mcp.calls) == 1


WRONG = {"method": "FETCH", "url": 5}
ERRORS = (
    "'取得': parameters.method must be one of GET, POST, or an expression; "
    "'取得': parameters.url must be of type string, not number"
)


@pytest.mark.req("NP-2")
async def test_wrong_parameters_are_refused_all_at_once(known: Caller, fake: FakeN8n, tmp_path: Path) -> None:
    stored = fake.add_workflow(**flow(method="GET", url="https://example.test"))
    change = [
        {"op": "setField", "node": "取得", "path": f"parameters.{key}", "value": value} for key, value in WRONG.items()
    ]
    (tmp_path / "f.json").write_text(json.dumps(flow(**WRONG)), encoding="utf-8")
    refused = [
        await known("create_workflow", **flow(**WRONG)),
        await known("create_workflow_from_file", filePath=str(tmp_path / "f.json")),
        await known("update_workflow", id=stored["id"], nodes=flow(**WRONG)["nodes"]),
        await known("replace_workflow_from_file", id=stored["id"], filePath=str(tmp_path / "f.json")),
        await known("patch_workflow", id=stored["id"], operations=change),
        await known("patch_workflow", id=stored["id"], operations=change, dryRun=True),
    ]
    for answer in refused:
        assert answer.error == f"The workflow is invalid, and nothing was changed: {ERRORS}."
        assert answer.details is not None
        assert answer.details["context"] == {"field": "nodes", "constraint": "parameters"}
    assert writes(fake) == []
    assert "FETCH" not in str([answer.details for answer in refused])


@pytest.mark.req("NP-2")
async def test_structure_and_parameters_are_reported_together(known: Caller) -> None:
    answer = await known("create_workflow", **{**flow(**WRONG), "connections": chain("Start", "無い")})
    assert "no node has this name" in answer.error
    assert ERRORS in answer.error


@pytest.mark.req("NP-2")
async def test_errors_that_were_there_before_are_warnings(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(**flow(**WRONG))
    renamed = [{"op": "renameNode", "name": "Start", "newName": "開始"}]
    first = (await known("patch_workflow", id=stored["id"], operations=renamed)).data
    assert [note for note in first["notes"] if "parameters." in note] == ERRORS.split("; ")
    same = [{"op": "setField", "node": "取得", "path": "parameters.timeout", "value": 5}]
    second = (await known("patch_workflow", id=stored["id"], operations=same)).data
    assert [note for note in second["notes"] if "parameters." in note] == ERRORS.split("; ")
    worse = [{"op": "setField", "node": "取得", "path": "parameters.operation", "value": "send"}]
    third = await known("patch_workflow", id=stored["id"], operations=worse)
    expected = "'取得': parameters.operation must be one of post, getAll, or an expression"
    assert third.error == f"The workflow is invalid, and nothing was changed: {expected}."


@pytest.mark.req("NP-2")
async def test_restore_of_a_wrong_state_only_warns(known: Caller, fake: FakeN8n) -> None:
    stored = fake.add_workflow(**flow(**WRONG))
    fixed = [{"op": "updateNode", "name": "取得", "changes": {"parameters": {"method": "GET", "url": "x"}}}]
    await known("patch_workflow", id=stored["id"], operations=fixed)
    (backup,) = (await known("list_backups", id=stored["id"])).data["backups"]
    answer = (await known("restore_workflow", backup=backup["backup"])).data
    assert [note for note in answer["notes"] if "parameters." in note] == ERRORS.split("; ")


@pytest.mark.req("NP-2")
async def test_validate_workflow_names_every_kind_of_problem(known: Caller, fake: FakeN8n) -> None:
    wrong = request(**WRONG, operation="send", conditions={}, odd=1, mystery="x")
    found = (await known("validate_workflow", nodes=[START, wrong], connections=chain("Start", "取得"))).data
    assert found["valid"] is False
    assert found["errors"] == [
        *ERRORS.split("; "),
        "'取得': parameters.operation must be one of post, getAll, or an expression",
        "'取得': parameters.conditions[0].value is required (array)",
        "'取得': parameters.odd: Something \"else\" is wrong. Really",
        "'取得': parameters.mystery has a value that n8n does not allow there; `describe_node` lists the allowed ones",
    ]
    assert "note" not in found
    stored = fake.add_workflow(**flow(**WRONG))
    assert (await known("validate_workflow", id=stored["id"])).data["errors"] == ERRORS.split("; ")


@pytest.mark.req("NP-2")
async def test_change_is_made_while_n8n_cannot_validate(known: Caller, fake: FakeN8n) -> None:
    fake.mcp.planned.append(JSONResponse({"message": "Too many requests"}, 429, {"retry-after": "100"}))
    made = (await known("create_workflow", **flow(**WRONG))).data
    (note,) = [note for note in made["notes"] if "validated" in note]
    assert note.startswith("The parameters of nodes were not validated. Failed to call n8n's `validate_node_config`")
    fake.mcp.tools["get_node_types"] = lambda _: {"definitions": "# Errors\n\nnothing"}
    refused = await known("create_workflow", **flow(**WRONG))
    assert "has a value that n8n does not allow there" in refused.error


async def test_all_tools_together_are_small(known: Caller) -> None:
    """What a model reads at every start: n8n's own server has 134,000 characters."""
    tools = await known.client.list_tools()
    shown = [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in tools]
    assert len(tools) == 25
    assert sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))) for tool in shown) <= 12_000


@pytest.mark.req("NP-1", "NP-3")
async def test_assistants_are_told_to_look_up_and_to_prove(known: Caller, call: Caller) -> None:
    told = known.client.instructions or ""
    assert all(name in told for name in ("find_nodes", "describe_node", "rehearse_change"))
    assert "rehearse_change" not in (call.client.instructions or "")


@pytest.mark.req("NP-1", "NP-2")
async def test_without_the_token_everything_works_and_says_what_it_would_add(call: Caller, fake: FakeN8n) -> None:
    names = [tool.name for tool in await call.client.list_tools()]
    assert not {"find_nodes", "describe_node"} & set(names)
    assert "notes" not in (await call("create_workflow", **flow(**WRONG))).data
    found = (await call("validate_workflow", **{key: flow(**WRONG)[key] for key in ("nodes", "connections")})).data
    assert found["valid"] is True
    assert "`N8N_MCP_TOKEN`" in found["note"]
    assert fake.mcp.calls == []
