"""The tools of the security matrix: a new one is added here, with its outcome, its race and its bound."""

from tests.security.matrix import (
    CHANGES_WORKFLOW,
    DELETES,
    MERGED,
    REHEARSES,
    SAVES,
    WRITES_TO_N8N,
    Race,
    ToolCase,
)
from tests.security.routes import NOTE_BOUND

from chie.bedrock_kb.requests import MAX_RESULTS
from chie.knowledge.validation import MAX_LIMIT, MAX_QUERY
from chie.n8n.settings import N8nSettings
from chie.n8n.workflow_files import MAX_FILE_BYTES
from chie.web_fetch.settings import FetchSettings

NOT_FOUND = "not found"
NOTHING_PRIVATE = "nothing private"  # the same for every user

MAX_CHARS = N8nSettings.model_fields["max_chars"].default
ANSWER = f"{MAX_CHARS:,} characters unless `raw`"
FILE = f"a file of {MAX_FILE_BYTES >> 20} MiB"
PASSAGES = f"{MAX_RESULTS} passages"

N8N_WRITES: dict[str, Race] = {
    "create_workflow": WRITES_TO_N8N,
    "create_workflow_from_file": WRITES_TO_N8N,
    "delete_workflow": CHANGES_WORKFLOW,
    "patch_workflow": CHANGES_WORKFLOW,
    "publish_workflow": WRITES_TO_N8N,
    "rehearse_change": REHEARSES,
    "replace_workflow_from_file": CHANGES_WORKFLOW,
    "restore_version": CHANGES_WORKFLOW,
    "restore_workflow": CHANGES_WORKFLOW,
    "retry_execution": WRITES_TO_N8N,
    "unpublish_workflow": WRITES_TO_N8N,
    "update_workflow": CHANGES_WORKFLOW,
}
N8N_READS = (
    "compare_versions list_credentials list_versions describe_node find_nodes get_execution get_workflow "
    "get_workflow_connections list_backups list_executions list_workflows n8n_health validate_workflow"
).split()

TOOLS: dict[str, dict[str, ToolCase]] = {
    "knowledge": {
        "get_knowledge": ToolCase(NOT_FOUND, {"id": "{note}"}, bound="one note"),
        "update_knowledge": ToolCase(NOT_FOUND, {"id": "{note}", "tags": ["mine"]}, MERGED, NOTE_BOUND),
        "delete_knowledge": ToolCase(NOT_FOUND, {"id": "{note}"}, DELETES, "one note"),
        "search_knowledge": ToolCase(
            NOTHING_PRIVATE,
            {"query": "the password is kept in the safe"},
            bound=f"a query of {MAX_QUERY:,} characters, {MAX_LIMIT} hits",
        ),
        "list_knowledge": ToolCase(NOTHING_PRIVATE, bound=f"{MAX_LIMIT} notes"),
        "save_knowledge": ToolCase(NOTHING_PRIVATE, {"content": "the password is kept in the safe"}, SAVES, NOTE_BOUND),
    },
    "n8n": {
        name: ToolCase(NOTHING_PRIVATE, {}, N8N_WRITES.get(name), FILE if name.endswith("_from_file") else ANSWER)
        for name in sorted([*N8N_READS, *N8N_WRITES])
    },
    "bedrock-kb": {
        "kb_answer": ToolCase(NOTHING_PRIVATE, bound=PASSAGES),
        "kb_search": ToolCase(NOTHING_PRIVATE, bound=PASSAGES),
    },
    "fetch": {
        "fetch": ToolCase(
            NOTHING_PRIVATE,
            {"url": "http://127.0.0.1:8080/api/sessions"},
            bound=f"{FetchSettings.model_fields['max_bytes'].default:,} bytes of a page",
        )
    },
}
