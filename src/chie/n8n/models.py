"""n8n's objects. They stay plain JSON, so that keys unknown to us are preserved."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from chie.n8n.errors import ApiError

Json: TypeAlias = dict[str, Any]
Workflow: TypeAlias = Json
Node: TypeAlias = Json
Execution: TypeAlias = Json
Tag: TypeAlias = Json

# The keys that POST and PUT accept. n8n rejects the other keys that GET returns.
REQUIRED = ("name", "nodes", "connections", "settings")
OPTIONAL = ("staticData", "pinData", "nodeGroups", "description")
WRITABLE = REQUIRED + OPTIONAL

READ_ONLY = frozenset(
    {
        "activeVersion", "activeVersionId", "createdAt", "homeProject", "isArchived", "meta", "parentFolder",
        "parentFolderId", "scopes", "shared", "sourceWorkflowId", "triggerCount", "updatedAt", "usedCredentials",
        "versionCounter", "checksum",
    }
)  # fmt: skip

# The keys that the oldest supported n8n accepts; a retry after a rejection sends no others.
NODE_KEYS = frozenset(
    {
        "id", "name", "type", "typeVersion", "position", "parameters", "credentials", "disabled", "notes",
        "notesInFlow", "webhookId", "executeOnce", "alwaysOutputData", "retryOnFail", "maxTries", "waitBetweenTries",
        "continueOnFail", "onError",
    }
)  # fmt: skip
SETTINGS_KEYS = frozenset(
    {
        "saveExecutionProgress", "saveManualExecutions", "saveDataErrorExecution", "saveDataSuccessExecution",
        "executionTimeout", "errorWorkflow", "timezone", "executionOrder",
    }
)  # fmt: skip

# Internal keys of a node that n8n sometimes returns and never accepts.
INTERNAL_NODE_KEYS = frozenset({"issues", "data", "runIndex", "createdAt", "updatedAt"})


@dataclass(frozen=True)
class Page:
    """One page of a list; the last one has no cursor."""

    rows: list[Json]
    cursor: str | None

    @classmethod
    def of(cls, response: object) -> "Page":
        if not isinstance(response, dict) or not isinstance(response.get("data"), list):
            raise ApiError("n8n.response_not_list")
        return cls(rows=response["data"], cursor=response.get("nextCursor") or None)


def tag_names(workflow: Workflow) -> list[str]:
    return [tag["name"] for tag in workflow.get("tags") or [] if isinstance(tag, dict) and "name" in tag]


def has_draft(workflow: Workflow) -> bool:
    """Whether the stored version is newer than the published one; only n8n 2 distinguishes them."""
    live = workflow.get("activeVersionId")
    return bool(live) and live != workflow.get("versionId")
