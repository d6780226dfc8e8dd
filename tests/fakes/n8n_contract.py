"""What n8n's public API refuses, in its own words, for two generations of it (1.100 and 2.41)."""

from collections import Counter
from typing import Any, Literal

Generation = Literal[1, 2]
Json = dict[str, Any]

REQUIRED = ("name", "nodes", "connections", "settings")
ACCEPTED: dict[int, dict[str, set[str]]] = {
    1: {"POST": {*REQUIRED, "staticData"}, "PUT": {*REQUIRED, "staticData"}},
    2: {
        "POST": {*REQUIRED, "staticData", "pinData", "nodeGroups", "projectId", "parentFolderId", "shared"},
        "PUT": {*REQUIRED, "staticData", "pinData", "nodeGroups", "parentFolderId", "shared", "description"},
    },
}
READ_ONLY: dict[int, set[str]] = {
    1: {"id", "active", "createdAt", "updatedAt", "tags"},
    2: {
        "id", "active", "createdAt", "updatedAt", "isArchived", "versionId", "triggerCount", "tags", "meta",
        "activeVersion",
    },
}  # fmt: skip
NODE: dict[int, set[str]] = {
    1: {
        "id", "name", "type", "typeVersion", "position", "parameters", "credentials", "disabled", "notes",
        "notesInFlow", "webhookId", "executeOnce", "alwaysOutputData", "retryOnFail", "maxTries",
        "waitBetweenTries", "continueOnFail", "onError",
    },
}  # fmt: skip
NODE[2] = NODE[1] | {"customTelemetryTags"}
SETTINGS: dict[int, set[str]] = {
    1: {
        "saveExecutionProgress", "saveManualExecutions", "saveDataErrorExecution", "saveDataSuccessExecution",
        "executionTimeout", "errorWorkflow", "timezone", "executionOrder",
    },
}  # fmt: skip
SETTINGS[2] = SETTINGS[1] | {
    "callerPolicy", "callerIds", "timeSavedPerExecution", "availableInMCP", "customTelemetryTags",
    "redactionPolicy", "timeSavedMode", "binaryMode", "credentialResolverId",
}  # fmt: skip
QUERY: dict[str, set[str]] = {
    "/workflows": {"active", "tags", "name", "projectId", "excludePinnedData", "limit", "cursor"},
    "/executions": {"includeData", "status", "workflowId", "projectId", "limit", "cursor"},
    "/tags": {"limit", "cursor"},
}


def refusal(generation: int, method: str, body: Json) -> str | None:
    """The message of the 400 that this body earns, or none."""
    for key in sorted(READ_ONLY[generation] & set(body)):
        return f"request/body/{key} is read-only"
    if fault := _unknown(generation, "", body, ACCEPTED[generation][method]):
        return fault
    for key in REQUIRED:
        if key not in body:
            return f"request/body must have required property '{key}'"
    if fault := _unknown(generation, "/settings", body["settings"], SETTINGS[generation]):
        return fault
    if body["settings"].get("saveManualExecutions") == "DEFAULT":
        return "request/body/settings/saveManualExecutions must be boolean"
    for number, node in enumerate(body["nodes"]):
        if fault := _unknown(generation, f"/nodes/{number}", node, NODE[generation]):
            return fault
    if method == "POST" and not 1 <= len(body["name"]) <= 128:
        return "Workflow name must be 1 to 128 characters long."
    return _structure(body) if generation == 2 else None


def _unknown(generation: int, place: str, part: Json, accepted: set[str]) -> str | None:
    unknown = sorted(set(part) - accepted)
    if not unknown:
        return None
    if generation == 1:
        return f"request/body{place} must NOT have additional properties"
    return f"request/body{place} Unrecognized key(s) in object: {', '.join(repr(key) for key in unknown)}"


def _structure(body: Json) -> str | None:
    faults = []
    for number, node in enumerate(body["nodes"]):
        for key in ("type", "position", "name"):
            if key not in node:
                faults.append(f"nodes[{number}].{key} (invalid_type): Required")
    names = [node.get("name") for node in body["nodes"]]
    faults += [f"duplicate node name ({name})" for name, count in Counter(names).items() if count > 1]
    for source, kinds in body["connections"].items():
        ends = [end["node"] for slots in kinds.values() for slot in slots or [] for end in slot or []]
        faults += [f"connection to a missing node ({name})" for name in [source, *ends] if name not in names]
    return f"Workflow structure is invalid. {'; '.join(faults)}" if faults else None
