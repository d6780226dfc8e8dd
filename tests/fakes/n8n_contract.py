"""What the public API of n8n 1.100 and 2.41 rejects, with their messages."""

from collections import Counter
from collections.abc import Iterator
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


def rejection(generation: int, method: str, body: Json) -> str | None:
    """The message of the 400 for this body, or None; n8n reports one error at a time."""
    return next(_errors(generation, method, body), None)


def _errors(generation: int, method: str, body: Json) -> Iterator[str]:
    yield from (f"request/body/{key} is read-only" for key in sorted(READ_ONLY[generation] & set(body)))
    yield from _unknown(generation, "", body, ACCEPTED[generation][method])
    yield from (f"request/body must have required property '{key}'" for key in REQUIRED if key not in body)
    yield from _unknown(generation, "/settings", body["settings"], SETTINGS[generation])
    if body["settings"].get("saveManualExecutions") == "DEFAULT":
        yield "request/body/settings/saveManualExecutions must be boolean"
    for number, node in enumerate(body["nodes"]):
        yield from _unknown(generation, f"/nodes/{number}", node, NODE[generation])
    if method == "POST" and not 1 <= len(body["name"]) <= 128:
        yield "Workflow name must be 1 to 128 characters long."
    if generation == 2:
        yield from _structure(body)


def _unknown(generation: int, pointer: str, part: Json, accepted: set[str]) -> Iterator[str]:
    unknown = sorted(set(part) - accepted)
    if unknown and generation == 1:
        yield f"request/body{pointer} must NOT have additional properties"
    elif unknown:
        yield f"request/body{pointer} Unrecognized key(s) in object: {', '.join(repr(key) for key in unknown)}"


def _structure(body: Json) -> Iterator[str]:
    nodes, names = body["nodes"], [node.get("name") for node in body["nodes"]]
    needed = ("type", "position", "name")
    errors = [
        f"nodes[{n}].{key} (invalid_type): Required" for n, own in enumerate(nodes) for key in needed if key not in own
    ]
    errors += [f"duplicate node name ({name})" for name, count in Counter(names).items() if count > 1]
    for source, kinds in body["connections"].items():
        ends = [end["node"] for slots in kinds.values() for slot in slots or [] for end in slot or []]
        errors += [f"connection to a missing node ({name})" for name in [source, *ends] if name not in names]
    if errors:
        yield f"Workflow structure is invalid. {'; '.join(errors)}"
