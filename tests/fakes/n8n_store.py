"""The state and the operations of the fake n8n, as observed in 1.100 and 2.41."""

import base64
import json
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.fakes.n8n_contract import Generation, Json, rejection

TRIGGERS = ("webhook", "Trigger")


class RejectedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Store:
    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.workflows: dict[str, Json] = {}
        self.executions: dict[int, Json] = {}
        self.tags: dict[str, Json] = {}
        self.history: dict[str, list[Json]] = {}
        self.credentials: list[Json] = []
        self.busy: dict[str, int] = {}
        self.unpublish_attempts = 2
        self._count = 0

    def add_workflow(self, **fields: Any) -> Json:
        """Add an existing workflow."""
        stamp = _now()
        workflow: Json = {
            "id": fields.pop("id", None) or self._id(),
            "name": "Flow",
            "active": False,
            "createdAt": stamp,
            "updatedAt": stamp,
            "versionId": str(uuid4()),
            "nodes": [],
            "connections": {},
            "settings": {},
            "staticData": None,
            "pinData": None,
            "meta": None,
            "triggerCount": 0,
            "tags": [],
            "shared": [{"role": "workflow:owner", "projectId": "p1"}],
        }
        if self.generation == 2:
            workflow |= {
                "isArchived": False, "description": None, "activeVersionId": None, "activeVersion": None,
                "versionCounter": 1, "sourceWorkflowId": None, "nodeGroups": [],
            }  # fmt: skip
        workflow |= deepcopy(fields)
        self.workflows[workflow["id"]] = workflow
        self._record(workflow)
        if workflow["active"]:
            self._make_live(workflow)
        return workflow

    def add_execution(self, **fields: Any) -> Json:
        number = len(self.executions) + 1
        execution = {
            "id": str(number),
            "workflowId": "wf",
            "status": "success",
            "mode": "trigger",
            "finished": True,
            "retryOf": None,
            "startedAt": "2026-01-01T00:00:00.000Z",
            "stoppedAt": "2026-01-01T00:00:01.500Z",
        } | fields
        self.executions[number] = execution
        return execution

    def _id(self) -> str:
        self._count += 1
        return f"wf{self._count:014d}"

    def _stored(self, id: str, message: str = "Not Found") -> Json:  # noqa: A002
        if id not in self.workflows:
            raise RejectedError(404, message)
        return self.workflows[id]

    def get(self, *, id: str, **_: Any) -> Json:  # noqa: A002
        return self._stored(id)

    def _record(self, workflow: Json) -> None:
        """Keep the state as a version of n8n's history."""
        kept = {key: deepcopy(workflow[key]) for key in ("versionId", "nodes", "connections")}
        stamps = {"createdAt": _now(), "workflowId": workflow["id"], "authors": "Test Owner", "name": None}
        self.history.setdefault(workflow["id"], []).insert(0, {**kept, **stamps})

    def list_versions(self, *, id: str, query: dict[str, str], **_: Any) -> Json:  # noqa: A002
        self._stored(id)
        rows = [{key: one[key] for key in one if key not in ("nodes", "connections")} for one in self.history[id]]
        return self._page(rows, query)

    def get_version(self, *, id: str, version: str, **_: Any) -> Json:  # noqa: A002
        for one in self.history.get(id, []):
            if one["versionId"] == version:
                return one
        raise RejectedError(404, "Version not found")

    def list_credentials(self, *, query: dict[str, str], **_: Any) -> Json:
        return self._page(self.credentials, query)

    def list_workflows(self, *, query: dict[str, str], **_: Any) -> Json:
        rows = [self.workflows[key] for key in sorted(self.workflows)]
        if "active" in query:
            rows = [row for row in rows if str(row["active"]).lower() == query["active"]]
        if "name" in query:
            rows = [row for row in rows if query["name"] in row["name"]]
        for tag in query.get("tags", "").split(",") if query.get("tags") else []:
            rows = [row for row in rows if tag in [own["name"] for own in row["tags"]]]
        hidden = {"description", "versionCounter", "sourceWorkflowId"}
        if query.get("excludePinnedData") == "true":
            hidden.add("pinData")
        return self._page([{k: v for k, v in row.items() if k not in hidden} for row in rows], query)

    def _page(self, rows: list[Json], query: dict[str, str]) -> Json:
        """A cursor contains limit and offset, but not the filters."""
        limit, offset = min(int(query.get("limit", 100)), 250), 0
        if query.get("cursor"):
            try:
                inside = json.loads(base64.b64decode(query["cursor"]))
                limit, offset = inside["limit"], inside["offset"]
            except (ValueError, KeyError) as error:
                raise RejectedError(400, "An invalid cursor was provided") from error
        more = offset + limit < len(rows)
        after = base64.b64encode(json.dumps({"limit": limit, "offset": offset + limit}).encode()).decode()
        return {"data": rows[offset : offset + limit], "nextCursor": after if more else None}

    def create(self, *, body: Json, **_: Any) -> Json:
        if message := rejection(self.generation, "POST", body):
            raise RejectedError(400, message)
        for node in body["nodes"]:
            node.setdefault("id", str(uuid4()))
        workflow = self.add_workflow(**{key: value for key, value in body.items() if key != "shared"})
        return {key: value for key, value in workflow.items() if key != "shared"}

    def put(self, *, id: str, body: Json, query: Json, **_: Any) -> Json:  # noqa: A002
        workflow = self._stored(id, "You do not have permission to update this workflow. Ask the owner.")
        if workflow.get("isArchived"):
            raise RejectedError(400, "Cannot update an archived workflow.")
        if message := rejection(self.generation, "PUT", body):
            raise RejectedError(400, message)
        changed = body["nodes"] != workflow["nodes"] or body["connections"] != workflow["connections"]
        if self.generation == 2:
            body["settings"] = {**workflow["settings"], **body["settings"]}
            body["settings"] = {k: v for k, v in body["settings"].items() if v not in ("DEFAULT", -1)}
        workflow |= body | {"updatedAt": _now()}
        if changed or self.generation == 1:
            workflow["versionId"] = str(uuid4())
            self._record(workflow)
        if workflow["active"] and self.generation == 2 and query.get("publishIfActive") != "false":
            self._check_publishable(workflow)
            self._make_live(workflow)
        return workflow

    def delete(self, *, id: str, **_: Any) -> Json:  # noqa: A002
        workflow = self._stored(id)
        if self.generation == 2 and workflow["active"]:
            raise RejectedError(409, "Cannot delete a published workflow. Unpublish it before deleting.")
        if self.busy.get(id, 0) > 0:
            self.busy[id] -= 1
            raise RejectedError(409, "Workflow is still being unpublished. Please try again in a few moments.")
        return self.workflows.pop(id)

    def publish(self, *, id: str, **_: Any) -> Json:  # noqa: A002
        workflow = self._stored(id, "You do not have permission to activate this workflow. Ask the owner.")
        if workflow.get("isArchived"):
            raise RejectedError(400, "Cannot activate an archived workflow.")
        self._check_publishable(workflow)
        workflow["active"] = True
        self._make_live(workflow)
        return workflow

    def _check_publishable(self, workflow: Json) -> None:
        nodes = [node for node in workflow["nodes"] if not node["type"].endswith("manualTrigger")]
        if not any(node["type"].endswith(TRIGGERS) for node in nodes):
            raise RejectedError(
                400, "Workflow cannot be activated because it has no trigger node. At least one is required."
            )
        for other in self.workflows.values():
            if other is not workflow and other["active"] and _webhooks(other) & _webhooks(workflow):
                raise RejectedError(409, "There is a conflict with one of the webhooks.")

    def _make_live(self, workflow: Json) -> None:
        if self.generation == 2:
            workflow["activeVersionId"] = workflow["versionId"]
            live = ("versionId", "nodes", "connections")
            workflow["activeVersion"] = deepcopy({key: workflow[key] for key in live})

    def unpublish(self, *, id: str, **_: Any) -> Json:  # noqa: A002
        workflow = self._stored(id, "You do not have permission to deactivate this workflow. Ask the owner.")
        if workflow["active"]:
            self.busy[id] = self.unpublish_attempts if self.generation == 2 else 0
        workflow["active"] = False
        if self.generation == 2:
            workflow |= {"activeVersion": None, "activeVersionId": None}
        return workflow

    def put_tags(self, *, id: str, body: list[Json], **_: Any) -> list[Json]:  # noqa: A002
        workflow = self._stored(id)
        if any(set(tag) != {"id"} for tag in body):
            raise RejectedError(400, "request/body/0 must NOT have additional properties")
        if any(tag["id"] not in self.tags for tag in body):
            raise RejectedError(404, "Some tags not found")
        workflow["tags"] = [self.tags[tag["id"]] for tag in body]
        tags: list[Json] = workflow["tags"]
        return tags

    def list_tags(self, *, query: dict[str, str], **_: Any) -> Json:
        return self._page(list(self.tags.values()), query)

    def create_tag(self, *, body: Json, **_: Any) -> Json:
        name = body["name"]
        if not 1 <= len(name) <= 24 or name in [tag["name"] for tag in self.tags.values()]:
            raise RejectedError(409, "Tag already exists")
        tag = {"id": f"tag{len(self.tags) + 1}", "name": name, "createdAt": _now(), "updatedAt": _now()}
        self.tags[tag["id"]] = tag
        return tag

    def list_executions(self, *, query: dict[str, str], **_: Any) -> Json:
        rows = [self.executions[key] for key in sorted(self.executions, reverse=True)]
        status = query.get("status")
        rows = [row for row in rows if (row["status"] == status if status else row["status"] != "running")]
        if "workflowId" in query:
            rows = [row for row in rows if row["workflowId"] == query["workflowId"]]
        return self._page([{k: v for k, v in row.items() if k not in ("data", "workflowData")} for row in rows], query)

    def get_execution(self, *, id: str, query: dict[str, str], **_: Any) -> Json:  # noqa: A002
        if not id.isdecimal() or id == "0":
            raise RejectedError(400, "request/params/executionId must be a positive integer")
        if int(id) not in self.executions:
            raise RejectedError(404, "Not Found")
        execution = self.executions[int(id)]
        hidden = set() if query.get("includeData") == "true" else {"data", "workflowData"}
        return {key: value for key, value in execution.items() if key not in hidden}

    def retry(self, *, id: str, **_: Any) -> Json:  # noqa: A002
        old = self.get_execution(id=id, query={})
        if old["status"] == "success":
            raise RejectedError(409, "The execution succeeded, so it cannot be retried.")
        return self.add_execution(workflowId=old["workflowId"], mode="retry", retryOf=id)

    def discover(self, **_: Any) -> Json:
        operations = ["read", "list", "create", "update", "delete", "activate", "deactivate"]
        return {"data": {"scopes": [], "resources": {"workflow": {"operations": operations}, "audit": {}}}}


def _webhooks(workflow: Json) -> set[str]:
    return {n["parameters"].get("path", "") for n in workflow["nodes"] if n["type"].endswith(".webhook")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
