"""Workflows as files: `chie n8n export`, `diff` and `push` against a fake n8n."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.caller import chain, node, order_flow

from chie import files
from chie.cli import main

pytestmark = pytest.mark.req("NP-5")

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def configured(fake: FakeN8n, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("N8N_URL", fake.url)
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "flows"


def run(command: str, folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["n8n", command, str(folder), *arguments])


def exported(folder: Path) -> Path:
    assert run("export", folder).exit_code == 0
    (file,) = folder.glob("*.json")
    return file


def edit(file: Path, **changes: Any) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, **changes}), encoding="utf-8")


def test_file_has_a_stable_order_and_no_volatile_keys(fake: FakeN8n, folder: Path) -> None:
    workflow = fake.add_workflow(
        **order_flow(),
        tags=[{"id": "2", "name": "b"}, {"id": "1", "name": "a"}],
        pinData={"End": [{"json": {"秘": 1}}]},
        staticData={"node:Webhook": {"last": 5}},
        active=True,
    )
    file = exported(folder)
    text = file.read_text(encoding="utf-8")
    content = json.loads(text)
    assert file.name == f"注文-flow-{workflow['id']}.json"
    assert list(content) == ["id", "name", "tags", "settings", "nodes", "connections"]
    assert [own["name"] for own in content["nodes"]] == ["End", "Webhook", "注文を整形"]
    assert (content["tags"], text[-2:]) == (["a", "b"], "}\n")
    stored = fake.workflows[workflow["id"]]
    stored["nodes"] = [dict(reversed(own.items())) for own in reversed(stored["nodes"])]
    stored |= {"versionId": "other", "updatedAt": "later", "staticData": {"node:Webhook": {"last": 6}}}
    result = run("export", folder)
    assert (result.output, file.read_text(encoding="utf-8")) == ("0 written, 1 unchanged, 0 deleted.\n", text)


def test_archived_workflow_is_ignored(fake: FakeN8n, folder: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.workflows[workflow["id"]]["isArchived"] = True
    assert run("export", folder).output == "0 written, 0 unchanged, 0 deleted.\n"


def test_file_keeps_its_name_when_its_workflow_is_renamed(fake: FakeN8n, folder: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    file = exported(folder)
    fake.workflows[workflow["id"]]["name"] = "別名"
    assert exported(folder) == file
    assert json.loads(file.read_text(encoding="utf-8"))["name"] == "別名"


@pytest.mark.parametrize("name", ["CON", 'a/b\\c:d*?"<>|', "  . ", "長" * 200, "ガ", "\u202eodd\n", "-"])
def test_names_of_files_are_valid_on_every_system(fake: FakeN8n, folder: Path, name: str) -> None:
    fake.add_workflow(**order_flow(name))
    file = exported(folder)
    assert not set(file.name) & set('/\\:*?"<>| \n\u202e')
    assert file.name.split(".")[0].casefold() not in ("con", "nul")
    assert len(file.name.encode()) <= 200
    assert run("diff", folder).exit_code == 0


def test_ids_that_differ_in_case_get_files_of_their_own(fake: FakeN8n, folder: Path) -> None:
    for id_ in ("abcdefgh", "ABCDEFGH"):
        fake.add_workflow(**order_flow("同じ名前"), id=id_)
    assert run("export", folder).exit_code == 0
    names = [file.name.casefold() for file in folder.glob("*.json")]
    assert len(names) == len(set(names)) == 2


def test_diff_and_push(fake: FakeN8n, folder: Path) -> None:
    workflow = fake.add_workflow(**order_flow(), pinData={"Webhook": [{"json": {"残る": 1}}]}, active=True)
    file = exported(folder)
    content = json.loads(file.read_text(encoding="utf-8"))
    content["nodes"][0]["parameters"] = {"rules": [{"値": 1}]}
    content["nodes"].append(node("追加"))
    content["connections"]["End"] = chain("End", "追加")["End"]
    edit(
        file,
        **content
        | {"description": "説明", "tags": ["team"], "settings": {"executionOrder": "v1", "timezone": "Asia/Tokyo"}},
    )
    found = run("diff", folder)
    assert found.exit_code == 1
    for line in (
        "~ node End: parameters.rules",
        "+ node 追加",
        "+ connection End → 追加",
        "+ tag team",
        "~ field description",
    ):
        assert f"    {line}\n" in found.output
    assert f"changed: 注文 flow ({file.name}, published)" in found.output
    order = [own["name"] for own in fake.workflows[workflow["id"]]["nodes"]]
    assert run("push", folder, "--dry-run").exit_code == 1
    refused = run("push", folder)
    assert (refused.exit_code, "Add `--yes`" in refused.output) == (2, True)
    assert [seen.method for seen in fake.seen if seen.method != "GET"] == []
    done = run("push", folder, "--yes")
    assert (done.exit_code, "-push.json; saved: " in done.output) == (0, True)
    stored = fake.workflows[workflow["id"]]
    assert [own["name"] for own in stored["nodes"]] == [*order, "追加"]
    assert (stored["description"], stored["pinData"]) == ("説明", {"Webhook": [{"json": {"残る": 1}}]})
    assert run("diff", folder).output == "1 workflows compared, 0 differ.\n"
    assert run("push", folder, "--yes").output == "Nothing to push: n8n has these workflows already.\n"


def test_file_without_id_becomes_a_workflow_and_gets_its_id(fake: FakeN8n, folder: Path) -> None:
    folder.mkdir()
    file = folder / "新しい.json"
    file.write_text(json.dumps(order_flow() | {"tags": ["new"]}), encoding="utf-8")
    assert "only in the folder: 注文 flow (新しい.json)" in run("diff", folder).output
    assert run("push", folder, "--yes").exit_code == 0
    (workflow,) = fake.workflows.values()
    assert json.loads(file.read_text(encoding="utf-8"))["id"] == workflow["id"]
    assert run("diff", folder).exit_code == 0


def test_another_n8n_keeps_its_ids_and_credentials(fake: FakeN8n, folder: Path) -> None:
    fake.add_workflow(**order_flow())
    file = exported(folder)
    text = file.read_text(encoding="utf-8")
    fake.reset()
    other = order_flow()
    other["nodes"][1]["credentials"] = {"httpBasicAuth": {"id": "theirs", "name": "shop"}}
    other["nodes"][0]["parameters"]["path"] = json.loads(text)["nodes"][1]["parameters"]["path"]
    workflow = fake.add_workflow(**other, id="elsewhere1")
    assert run("diff", folder).exit_code == 0
    assert run("export", folder).output == "0 written, 1 unchanged, 0 deleted.\n"
    assert file.read_text(encoding="utf-8") == text
    edit(file, description="新")
    assert run("push", folder, "--yes").exit_code == 0
    stored = fake.workflows[workflow["id"]]
    assert stored["description"] == "新"
    assert stored["nodes"][1]["credentials"] == {"httpBasicAuth": {"id": "theirs", "name": "shop"}}


def test_workflow_that_n8n_lost_is_pruned_on_request(fake: FakeN8n, folder: Path) -> None:
    gone = fake.add_workflow(**order_flow("gone"))
    fake.add_workflow(**order_flow("kept"))
    run("export", folder)
    del fake.workflows[gone["id"]]
    kept = run("export", folder)
    assert f"not in n8n: gone-{gone['id']}.json" in kept.output
    assert f"deleted: gone-{gone['id']}.json" in run("export", folder, "--prune").output
    assert len(list(folder.glob("*.json"))) == 1
    assert run("export", folder, "--prune", "kept").exit_code == 2


def test_only_named_workflows_and_files(fake: FakeN8n, folder: Path) -> None:
    one, two = fake.add_workflow(**order_flow("one")), fake.add_workflow(**order_flow("two"))
    assert run("export", folder, one["id"]).output.startswith("written: one-")
    assert "only in n8n: two" in run("diff", folder).output
    assert run("diff", folder, "--files-only").exit_code == 0
    run("export", folder)
    for file in folder.glob("*.json"):
        edit(file, description="新")
    assert run("push", folder, f"one-{one['id']}.json", "--yes").exit_code == 0
    assert fake.workflows[one["id"]]["description"] == "新"
    assert fake.workflows[two["id"]].get("description") != "新"
    assert run("push", folder, "nowhere.json", "--yes").exit_code == 2


def test_invalid_files_are_all_named_and_nothing_is_pushed(fake: FakeN8n, folder: Path) -> None:
    fake.add_workflow(**order_flow())
    file = exported(folder)
    (folder / "copy.json").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "broken.json").write_text("<<<<<<< HEAD", encoding="utf-8")
    (folder / "id.json").write_text(json.dumps(order_flow() | {"id": "../x"}), encoding="utf-8")
    for command in (("diff",), ("push", "--yes"), ("export",)):
        result = run(command[0], folder, *command[1:])
        assert result.exit_code == 2
        for name in ("broken.json: ", "id.json: ", f"{file.name} has the same workflow id as copy.json"):
            assert name in result.output
    assert [seen.method for seen in fake.seen if seen.method != "GET"] == []


def test_one_rejected_workflow_does_not_keep_the_others_back(fake: FakeN8n, folder: Path) -> None:
    flows = [fake.add_workflow(**order_flow(name)) for name in ("a", "b")]
    run("export", folder)
    for file in folder.glob("*.json"):
        edit(file, description="新")
    fake.fail("PUT", f"/workflows/{flows[0]['id']}", 400, "n8n says no")
    result = run("push", folder, "--yes", "--json")
    first, second = json.loads(result.stdout)
    assert (result.exit_code, "n8n says no" in first["error"], "error" in second) == (2, True, False)
    assert fake.workflows[flows[1]["id"]]["description"] == "新"


def test_invalid_workflow_is_not_sent(fake: FakeN8n, folder: Path) -> None:
    fake.add_workflow(**order_flow())
    file = exported(folder)
    edit(file, connections=chain("Webhook", "無い"))
    result = run("push", folder, "--yes")
    assert (result.exit_code, "no node has this name" in result.output) == (2, True)
    assert [seen.method for seen in fake.seen if seen.method != "GET"] == []


def test_read_only_and_unreachable(monkeypatch: pytest.MonkeyPatch, fake: FakeN8n, folder: Path) -> None:
    fake.add_workflow(**order_flow())
    edit(exported(folder), description="新")
    monkeypatch.setenv("N8N_READ_ONLY", "1")
    assert run("push", folder, "--yes").exit_code == 2
    assert run("push", folder, "--dry-run").exit_code == 1
    monkeypatch.delenv("N8N_API_KEY")
    result = run("diff", folder)
    assert (result.exit_code, result.output) == (2, "Error: not configured: N8N_API_KEY\n")
    assert run("diff", folder / "nowhere").exit_code == 2


def test_full_disk_and_kill_leave_complete_files(fake: FakeN8n, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = fake.add_workflow(**order_flow())
    file = exported(folder)
    text = file.read_text(encoding="utf-8")
    fake.workflows[workflow["id"]]["name"] = "新しい名前"

    def full(_: Path) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(files, "_sync", full)
        result = run("export", folder)
    assert (result.exit_code, "No space left on device" in result.output) == (2, True)
    assert [path.name for path in folder.iterdir()] == [file.name]
    assert file.read_text(encoding="utf-8") == text
    (folder / ".0123456789abcdef.part").write_text('{"half', encoding="utf-8")  # of a killed process
    assert run("diff", folder).exit_code == 1
    assert run("export", folder).exit_code == 0
    assert [path.name for path in folder.iterdir()] == [file.name]
    assert json.loads(file.read_text(encoding="utf-8"))["name"] == "新しい名前"
