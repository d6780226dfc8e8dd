"""Versions of n8n's own history and our backups, and the credentials that a node can reuse."""

import json

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, order_flow

pytestmark = pytest.mark.req("NP-4")

ONE, TWO = ({"op": "setField", "node": "End", "path": "parameters.値", "value": value} for value in (1, 2))


async def changed_twice(call: Caller, fake: FakeN8n) -> str:
    workflow = fake.add_workflow(**order_flow())
    for operation in (ONE, TWO):
        assert not (await call("patch_workflow", id=workflow["id"], operations=[operation])).is_error
    return str(workflow["id"])


async def test_versions_of_n8n_and_backups_are_one_list(call: Caller, fake: FakeN8n) -> None:
    workflow_id = await changed_twice(call, fake)
    found = (await call("list_versions", id=workflow_id)).data
    assert found["count"] == len(found["versions"]) == 5
    times = [row["time"][:19] for row in found["versions"]]
    assert times == sorted(times, reverse=True)
    assert [row["source"] for row in found["versions"]] == ["n8n", "backup", "n8n", "backup", "n8n"]
    own = [row for row in found["versions"] if row["source"] == "n8n"]
    assert [row.get("current", False) for row in own] == [True, False, False]
    assert [row["before"] for row in found["versions"] if row["source"] == "backup"] == ["patch", "patch"]
    assert (await call("list_versions", id=workflow_id, limit=2)).data["count"] == 2


async def test_versions_are_compared_with_paths(call: Caller, fake: FakeN8n) -> None:
    workflow_id = await changed_twice(call, fake)
    rows = (await call("list_versions", id=workflow_id)).data["versions"]
    first = [row["version"] for row in rows if row["source"] == "n8n"][-1]
    backup = [row["version"] for row in rows if row["source"] == "backup"][-1]
    for version in (first, backup):
        found = (await call("compare_versions", id=workflow_id, **{"from": version})).data
        assert (found["same"], found["to"]) == (False, "current")
        assert found["changed"] == {"End": ["parameters.値"]}
    assert (await call("compare_versions", id=workflow_id, **{"from": first, "to": backup})).data["same"] is True


@pytest.mark.parametrize("source", ["n8n", "backup"])
async def test_version_is_restored_with_a_backup_first(call: Caller, fake: FakeN8n, source: str) -> None:
    workflow_id = await changed_twice(call, fake)
    rows = (await call("list_versions", id=workflow_id)).data["versions"]
    oldest = [row["version"] for row in rows if row["source"] == source][-1]
    answer = (await call("restore_version", id=workflow_id, version=oldest)).data
    assert answer["steps"][0].startswith(f"backup written: {workflow_id}/")
    assert answer["steps"][0].endswith("-restore.json")
    assert fake.workflows[workflow_id]["nodes"][2]["parameters"] == {}
    assert fake.workflows[workflow_id]["nodes"][1]["credentials"] == {"httpBasicAuth": {"id": "cred1", "name": "shop"}}


async def test_unknown_versions_say_where_to_look(call: Caller, fake: FakeN8n) -> None:
    workflow_id = await changed_twice(call, fake)
    other = fake.add_workflow(**order_flow())
    rows = (await call("list_versions", id=workflow_id)).data["versions"]
    backup = next(row["version"] for row in rows if row["source"] == "backup")
    assert (await call("restore_version", id=other["id"], version=backup)).code == "n8n.version_of_another_workflow"
    missing = await call("restore_version", id=workflow_id, version="無い")
    assert missing.code == "n8n.version_not_found"
    assert missing.details is not None
    assert missing.details["context"]["operation"] == "restore version"
    assert (await call("list_versions", id="nowhere")).code == "n8n.workflow_not_found"


async def test_backups_are_listed_without_the_history_of_n8n(call: Caller, fake: FakeN8n) -> None:
    workflow_id = await changed_twice(call, fake)
    fake.fail("GET", f"/workflows/{workflow_id}/history", 403, "no license")
    found = (await call("list_versions", id=workflow_id)).data
    assert ([row["source"] for row in found["versions"]], "no license" in found["note"]) == (["backup"] * 2, True)
    del fake.workflows[workflow_id]
    found = (await call("list_versions", id=workflow_id)).data
    assert (found["count"], "`restore_workflow`" in found["note"]) == (2, True)


async def test_credentials_have_no_secrets(call: Caller, fake: FakeN8n) -> None:
    fake.credentials = [
        {"id": "1", "name": "店 Slack", "type": "slackApi", "data": {"accessToken": "s3cret"}, "shared": []},
        {"id": "2", "name": "Mail", "type": "smtp", "data": {"password": "s3cret"}},
    ]
    answer = await call("list_credentials")
    assert answer.data["credentials"][0] == {"id": "1", "name": "店 Slack", "type": "slackApi"}
    assert (answer.data["count"], "s3cret" in answer.text) == (2, False)
    assert [row["id"] for row in (await call("list_credentials", query="SLACK")).data["credentials"]] == ["1"]
    assert json.loads((await call("list_credentials", query="none")).text) == {"count": 0, "credentials": []}


async def test_list_of_credentials_says_that_there_are_more(call: Caller, fake: FakeN8n) -> None:
    fake.credentials = [{"id": str(number), "name": f"店 {number}", "type": "smtp"} for number in range(300)]
    found = (await call("list_credentials")).data
    assert (found["count"], len(found["credentials"]), found["hasMore"]) == (300, 200, True)
    assert found["note"].startswith("200 of 300 credentials are shown.")
    assert "hasMore" not in (await call("list_credentials", query="店 29")).data
