"""Workflows of the fake n8n whose last execution failed."""

from typing import Any

from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Json, chain, node

WEBHOOK = "n8n-nodes-base.webhook"
SET = "n8n-nodes-base.set"
ORDER = [{"json": {"顧客": "山田", "total": 120}}]


def names(fake: FakeN8n) -> list[str]:
    return [workflow["name"] for workflow in fake.workflows.values()]


def failing(fake: FakeN8n, *own: Json, connections: Json | None = None, **pins: Any) -> str:
    """The id of a workflow whose last execution failed; `pins` are what the services returned then."""
    nodes = [node("Hook", WEBHOOK), *own]
    for number, each in enumerate(nodes):
        each["id"] = f"id{number}"
    connections = connections or chain(*(each["name"] for each in nodes))
    workflow = fake.add_workflow(name="注文", nodes=nodes, connections=connections, active=True)
    fake.runner.run(workflow, "Hook", {"Hook": ORDER, **pins})
    fake.runner.ran.clear()
    return str(workflow["id"])


def parameters(name: str, **values: Any) -> list[Json]:
    return [{"op": "setField", "node": name, "path": "parameters", "value": values}]
