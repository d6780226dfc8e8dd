"""Publishing, tagging and deleting."""

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Era, order_flow


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    era: Era = request.param
    return era


def writes(fake: FakeN8n) -> list[str]:
    return [f"{seen.method} {seen.path}" for seen in fake.seen if seen.method != "GET"]


async def test_unpublishing_precedes_the_save(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    operations = {"nodes": [{"name": "Webhook"}], "connections": {}, "active": False}
    answer = (await call("update_workflow", id=workflow["id"], **operations)).data
    assert [step.split(":")[0] for step in answer["steps"]] == ["backup written", "unpublished", "saved"]
    assert writes(fake)[0].endswith("/unpublish")


async def test_same_tags_in_another_order_are_no_change(call: Caller, fake: FakeN8n) -> None:
    made = (await call("create_workflow", **order_flow(), tags=["a", "b"])).data
    fake.seen.clear()
    answer = (await call("update_workflow", id=made["id"], tags="b, a")).data
    assert answer["steps"] == ["nothing to change: n8n already has this state"]
    assert writes(fake) == []


async def test_published_workflow_is_not_published_again(call: Caller, fake: FakeN8n) -> None:
    for active in (True, False):
        workflow = fake.add_workflow(**order_flow(), active=active)
        answer = (await call("update_workflow", id=workflow["id"], active=active)).data
        assert answer["steps"] == ["nothing to change: n8n already has this state"]
    assert writes(fake) == []


async def test_report_names_the_tags_and_the_new_ones(call: Caller) -> None:
    made = (await call("create_workflow", **order_flow(), tags=["a"])).data
    assert "tags set: a (new: a)" in made["steps"]
    more = (await call("update_workflow", id=made["id"], tags=["b", "a", "c"])).data
    assert more["steps"][-1] == "tags set: b, a, c (new: b, c)"
    known = (await call("update_workflow", id=made["id"], tags=["a", "b"])).data
    assert known["steps"][-1] == "tags set: a, b"
    none = (await call("update_workflow", id=made["id"], tags=[])).data
    assert none["steps"][-1] == "all tags removed"


async def test_too_long_tag_is_rejected(call: Caller, fake: FakeN8n) -> None:
    answer = await call("create_workflow", **order_flow(), tags=["x" * 25])
    assert answer.error == "tags: a name has at most 24 characters."
    assert writes(fake) == []


async def test_archived_workflow_is_rejected_with_advice(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), isArchived=True)
    for tool, arguments in (("update_workflow", {"name": "x"}), ("publish_workflow", {})):
        answer = await call(tool, id=workflow["id"], **arguments)
        assert "Unarchive it in n8n first." in answer.error
        assert answer.details is not None
        assert answer.details["context"] == {"field": "id", "constraint": "not archived"}
    assert writes(fake) == []


async def test_publishing_publishes_the_draft(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    fake.workflows[workflow["id"]]["versionId"] = "newer"
    assert (await call("get_workflow", id=workflow["id"])).data["unpublishedChanges"] is True
    answer = (await call("publish_workflow", id=workflow["id"])).data
    assert (answer["active"], answer.get("unpublishedChanges"), answer["steps"]) == (True, None, ["published"])
    assert (await call("unpublish_workflow", id=workflow["id"])).data["active"] is False


async def test_deleting_waits_until_n8n_has_unpublished(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    answer = (await call("delete_workflow", id=workflow["id"])).data
    assert answer["steps"][1:] == ["unpublished", "deleted, together with its executions"]
    assert [write.split()[0] for write in writes(fake)] == ["DELETE", "POST", "DELETE", "DELETE", "DELETE"]


@pytest.mark.parametrize("stored", [True, False])
async def test_inconclusive_delete_is_verified(call: Caller, fake: FakeN8n, stored: bool) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("DELETE", workflow["id"], 502, stored=stored)
    answer = await call("delete_workflow", id=workflow["id"])
    if stored:
        assert answer.data["deleted"] is True
    else:
        assert "Failed to delete workflow: n8n returned 502" in answer.error


async def test_change_of_a_draft_does_not_publish_it(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    fake.workflows[workflow["id"]]["versionId"] = "draft"
    raw = (await call("get_workflow", id=workflow["id"], raw=True)).data
    quiet = (await call("update_workflow", **{**raw, "name": "静かに"})).data
    assert (quiet["active"], quiet["unpublishedChanges"]) == (True, True)
    loud = (await call("publish_workflow", id=workflow["id"])).data
    assert "unpublishedChanges" not in loud
    off = (await call("update_workflow", id=workflow["id"], name="終わり", active=False)).data
    assert (off["active"], off["name"]) == (False, "終わり")


async def test_change_that_would_publish_a_draft_is_rejected(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    fake.workflows[workflow["id"]]["versionId"] = "draft"
    fake.fail("PUT", workflow["id"], 400, "Unknown query parameter 'publishIfActive'")
    answer = await call("update_workflow", id=workflow["id"], name="静かに")
    assert "would publish them together with yours; nothing was written" in answer.error
    assert answer.details is not None
    assert answer.details["context"]["status_code"] == 400
    assert answer.details["context"]["resource_id"] == workflow["id"]
    assert fake.workflows[workflow["id"]]["name"] == "注文 flow"
