"""The shapes that cross this room. n8n's own objects stay plain JSON: what we do not know must survive."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from chie.n8n.errors import ApiError

Json: TypeAlias = dict[str, Any]
Workflow: TypeAlias = Json
Node: TypeAlias = Json
Execution: TypeAlias = Json
Tag: TypeAlias = Json

# What POST and PUT take. Everything else that GET returns is n8n's own business and is refused when sent back.
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

# What the oldest n8n that we support takes; the retry after a refusal sends no more than this.
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

# The editor's and the runner's own notes on a node, which n8n returns at times and never takes.
NODE_NOISE = frozenset({"issues", "data", "runIndex", "createdAt", "updatedAt"})


@dataclass(frozen=True)
class Page:
    """One page of a list; no cursor means that it was the last."""

    rows: list[Json]
    cursor: str | None

    @classmethod
    def of(cls, answer: object) -> "Page":
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
            raise ApiError("n8n's answer is not a list: check that N8N_URL leads to n8n and not to something else.")
        return cls(rows=answer["data"], cursor=answer.get("nextCursor") or None)


def tag_names(workflow: Workflow) -> list[str]:
    return [tag["name"] for tag in workflow.get("tags") or [] if isinstance(tag, dict) and "name" in tag]


def has_draft(workflow: Workflow) -> bool:
    """Whether what is live is older than what is stored; only n8n 2 tells the two apart."""
    live = workflow.get("activeVersionId")
    return bool(live) and live != workflow.get("versionId")
