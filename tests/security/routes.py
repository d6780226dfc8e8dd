"""The routes of the security matrix: a new one is added here, with its kind, its race and its bound."""

from tests.security.conftest import SECRET
from tests.security.matrix import (
    ADDS,
    CALLS_TOOL,
    CHANGES_WORKFLOW,
    CONFIGURES,
    DECIDED_ONCE,
    DELETES,
    FILES,
    IMPORTS,
    IMPORTS_NOTES,
    LISTING,
    LOGS_IN,
    MERGED,
    MOVES_NOTES,
    ONCE,
    ONE_ANSWER,
    OWN_TRANSACTION,
    PRIVATE,
    PUBLIC,
    RECALLS,
    REHEARSES,
    REVIEWS,
    SAVES,
    SEEN_VERSION,
    SENT_ONCE,
    SETS,
    SHARED,
    SPACES,
    STORES_NOTHING,
    UNIQUE_ID,
    Case,
)

from chie.access.authentication import FAILURES_PER_MINUTE as WRONG_TOKENS
from chie.chat.imports.export_file import MAX_CONVERSATION, MAX_UNPACKED
from chie.chat.projects.files import MAX_FILES as MAX_PROJECT_FILES
from chie.chat.sessions.prompts import MAX_PROMPTS
from chie.chat.sessions.queue import MAX_QUEUED
from chie.chat.toolbox.server_content import MAX_LISTED as MAX_CONTENT_LISTED
from chie.chat.usage.report import MAX_DAYS
from chie.http.static_files import PAGES
from chie.knowledge.anchors.reports import MAX_RESULTS
from chie.knowledge.embedding.api import MAX_CHARACTERS, MAX_TEXTS
from chie.knowledge.inbox.inbox import MAX_LISTED
from chie.knowledge.links.graph import MAX_GRAPH_LINKS, MAX_GRAPH_NOTES
from chie.knowledge.links.links import MAX_BACKLINKS, MAX_LINKS
from chie.knowledge.markdown.uploads import MAX_FILE_BYTES, MAX_FILES, MIB
from chie.knowledge.search.atlas import MAX_MAP_NOTES
from chie.knowledge.validation import MAX_CONTENT, MAX_QUERY, MAX_TAGS
from chie.n8n.api import MAX_BACKUPS, MAX_RESPONSE_SIZE

GIB = 1024 * MIB
NOTE_BOUND = f"{MAX_CONTENT:,} characters, {MAX_TAGS} tags"
PAGE_BOUND = f"{MAX_RESPONSE_SIZE:,} characters"

NOTE = {
    "id": "{note_id}",
    "title": "mine",
    "content": "mine now",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}

PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "prompt": "where is the password kept? in the safe?",
}

ANCHOR = {"repository": "github.com/org/repo", "path": "safe.py", "lines": "1-2"}
CHECK = {"id": "{note_id}", "anchor": ANCHOR, "state": "gone", "detail": "deleted"}
RESULTS = {"commit": "abcdef0", "committed_at": "2026-03-01T00:00:00Z", "checks": [CHECK]}

BINDING = {"repository": "github.com/org/repo", "space": "team"}

ROUTES: dict[str, Case] = {
    "GET /": Case(PUBLIC, bound="one file"),
    "GET /assets/index-1.js": Case(PUBLIC, bound="one file"),
    **{f"GET /{page}": Case(PUBLIC, bound="one page") for page in PAGES},
    "GET /health": Case(PUBLIC, bound="a status; details with a token"),
    "POST /api/login": Case(PUBLIC, STORES_NOTHING, bound=f"{WRONG_TOKENS} wrong tokens a minute and client"),
    "POST /api/logout": Case(PUBLIC, STORES_NOTHING),
    "GET /api/me": Case(SHARED, bound="one user"),
    "GET /docs": Case(SHARED, bound="one page"),
    "GET /openapi.json": Case(SHARED, bound="one document"),
    "GET /metrics": Case(LISTING, bound="one series for each agent, tool and status"),
    "GET /api/agents": Case(SHARED, bound="those that are registered"),
    "GET /api/models": Case(SHARED, bound="those of the endpoints, asked once a minute"),
    "GET /api/endpoints": Case(
        SHARED, bound="those that admins added"
    ),  # where they are is for admins; see chat/endpoints/test_endpoints.py
    "POST /api/endpoints": Case(
        SHARED, CONFIGURES, admins=True, body={"kind": "openai", "name": "x"}
    ),  # for admins; see the same
    "POST /api/endpoints/test": Case(SHARED, STORES_NOTHING, admins=True, body={"kind": "openai"}),
    "PATCH /api/endpoints/{endpoint_id}": Case(SHARED, CONFIGURES, admins=True, body={}),
    "DELETE /api/endpoints/{endpoint_id}": Case(SHARED, CONFIGURES, admins=True),
    "GET /api/mcp/servers": Case(SHARED, bound="those that are configured"),
    "POST /api/mcp/servers": Case(
        SHARED, CONFIGURES, admins=True, body={"name": "x", "url": "http://127.0.0.1:9/"}
    ),  # for admins
    "POST /api/mcp/servers/test": Case(
        SHARED, STORES_NOTHING, admins=True, body={"url": "http://127.0.0.1:9/"}
    ),  # see test_added_servers.py
    "PATCH /api/mcp/servers/{name}": Case(SHARED, CONFIGURES, admins=True, body={}),
    "DELETE /api/mcp/servers/{name}": Case(SHARED, CONFIGURES, admins=True),
    "POST /api/mcp/servers/{name}/reconnect": Case(SHARED, SETS),
    "POST /api/mcp/servers/{name}/login": Case(SHARED, LOGS_IN),  # of the caller alone; see test_oauth.py
    "DELETE /api/mcp/servers/{name}/login": Case(SHARED, LOGS_IN),
    "GET /api/mcp/oauth/callback": Case(PUBLIC),
    "GET /api/mcp/oauth/client.json": Case(PUBLIC, bound="one document"),
    "POST /api/mcp/oauth/finish": Case(SHARED, LOGS_IN, body={"state": "x", "code": "y"}),
    "GET /api/mcp/servers/{name}/view": Case(SHARED, query={"uri": "ui://x"}),
    "POST /api/mcp/servers/{name}/view/call": Case(SHARED, CALLS_TOOL, body={"tool": "x"}),  # as the caller
    "GET /api/mcp/prompts": Case(SHARED, bound=f"{MAX_CONTENT_LISTED} of each server", query={"agent_id": "echo"}),
    "GET /api/mcp/resources": Case(
        SHARED, bound=f"{MAX_CONTENT_LISTED} of each server", query={"agent_id": "echo"}
    ),  # as the caller; see test_server_content.py
    "POST /api/mcp/servers/{name}/prompt": Case(SHARED, STORES_NOTHING, body={"prompt": "x"}),
    "POST /api/mcp/servers/{name}/resource": Case(SHARED, STORES_NOTHING, body={"uri": "knowledge://x"}),  # the same
    "POST /api/mcp/servers/{name}/accept": Case(SHARED, SETS, admins=True),  # for admins; see test_changed_tools.py
    "GET /api/setup": Case(SHARED, bound="one status"),
    "GET /api/setup/connect": Case(SHARED, bound="one text for each client"),
    "POST /api/setup/endpoints/{endpoint_id}/test": Case(SHARED, STORES_NOTHING),
    "GET /v1/models": Case(SHARED, bound="one for each agent"),
    "GET /v1/models/{model}": Case(SHARED, bound="one model"),
    "POST /v1/chat/completions": Case(SHARED, STORES_NOTHING),
    "POST /v1/embeddings": Case(
        SHARED, STORES_NOTHING, bound=f"{MAX_TEXTS} texts, {MAX_CHARACTERS:,} characters in all"
    ),
    "POST /v1/responses": Case(SHARED, STORES_NOTHING),
    "GET /api/projects": Case(LISTING, bound="those of the user"),
    "POST /api/projects": Case(LISTING, ADDS, body={"name": "mine"}),
    "GET /api/projects/{project_id}": Case(PRIVATE),
    "PATCH /api/projects/{project_id}": Case(PRIVATE, OWN_TRANSACTION, body={"name": "mine"}),
    "POST /api/projects/{project_id}/files": Case(PRIVATE, FILES, bound=f"{MAX_PROJECT_FILES} files of a project"),
    "GET /api/projects/{project_id}/files/{attachment_id}": Case(PRIVATE),
    "GET /api/projects/{project_id}/files/{attachment_id}/text": Case(PRIVATE),
    "DELETE /api/projects/{project_id}/files/{attachment_id}": Case(PRIVATE, FILES),
    "GET /api/projects/{project_id}/shares": Case(PRIVATE),
    "PUT /api/projects/{project_id}/members/{user_id}": Case(PRIVATE, OWN_TRANSACTION, body={"role": "owner"}),
    "DELETE /api/projects/{project_id}/members/{user_id}": Case(PRIVATE, OWN_TRANSACTION),
    "POST /api/sessions/{session_id}/shares": Case(PRIVATE, ADDS, body={"with_project": True}),
    "GET /api/shares": Case(LISTING, bound="those of the user"),
    # A link for the members of a project; what a link for everybody shows is in test_projects.py.
    "GET /api/shared/{token}": Case(PRIVATE),
    "GET /api/shared/{token}/attachments/{attachment_id}": Case(PRIVATE),
    "GET /api/shared/{token}/attachments/{attachment_id}/text": Case(PRIVATE),
    "POST /api/shared/{token}/continue": Case(PRIVATE, ADDS),
    "DELETE /api/shares/{token}": Case(PRIVATE, ONCE),
    "DELETE /api/projects/{project_id}": Case(PRIVATE, ONCE),
    "GET /api/sessions": Case(LISTING, query={"query": SECRET}),
    "POST /api/sessions": Case(LISTING, ADDS, body={}),
    "GET /api/sessions/{session_id}": Case(PRIVATE),
    "PATCH /api/sessions/{session_id}": Case(PRIVATE, OWN_TRANSACTION, body={"title": "mine"}),
    "DELETE /api/sessions/{session_id}": Case(PRIVATE, ONCE),
    "GET /api/sessions/{session_id}/export": Case(PRIVATE),
    "GET /api/sessions/marks": Case(LISTING, bound="one for each session that is running or unread"),
    "POST /api/sessions/{session_id}/seen": Case(PRIVATE, SETS, body={"message_id": "{message_id}"}),
    "POST /api/sessions/import": Case(
        LISTING, IMPORTS, bound=f"{MAX_UNPACKED // GIB} GiB unpacked, {MAX_CONVERSATION // MIB} MiB a conversation"
    ),  # into the caller's own sessions
    "GET /api/prompts": Case(LISTING, bound=f"{MAX_PROMPTS:,} prompts"),
    "POST /api/prompts": Case(
        LISTING, ADDS, bound=f"{MAX_PROMPTS:,} prompts of a user", body={"name": "mine", "text": "own words"}
    ),
    "GET /api/prompts/export": Case(LISTING, bound=f"{MAX_PROMPTS:,} prompts"),
    "POST /api/prompts/import": Case(
        LISTING, OWN_TRANSACTION, body={"prompts": [{"name": "mine", "text": "own words"}]}
    ),
    "GET /api/prompts/{prompt_id}": Case(PRIVATE),
    "PATCH /api/prompts/{prompt_id}": Case(PRIVATE, OWN_TRANSACTION, body={"text": "mine now"}),
    "DELETE /api/prompts/{prompt_id}": Case(PRIVATE, ONCE),
    "PUT /api/sessions/{session_id}/queue/{message_id}": Case(
        PRIVATE, SENT_ONCE, bound=f"{MAX_QUEUED} messages of a session", body={"message": "and then?"}
    ),
    "DELETE /api/sessions/{session_id}/queue/{message_id}": Case(PRIVATE, SENT_ONCE),
    "POST /api/sessions/{session_id}/queue/{message_id}/send": Case(PRIVATE, SENT_ONCE),
    "POST /api/attachments": Case(LISTING, FILES),
    "GET /api/attachments/{attachment_id}": Case(PRIVATE),
    "GET /api/attachments/{attachment_id}/text": Case(PRIVATE),
    "POST /api/chat/stream": Case(PRIVATE, ONE_ANSWER, body={"message": "and now?", "session_id": "{session_id}"}),
    "GET /api/chat/stream/{message_id}": Case(PRIVATE),
    "POST /api/chat/suggest-questions": Case(SHARED, STORES_NOTHING, body={"content": "mine"}),
    "POST /api/chat/compare-notes": Case(
        SHARED, STORES_NOTHING, body={"older": {"content": "a"}, "newer": {"content": "b"}}
    ),
    "POST /api/chat/{message_id}/stop": Case(PRIVATE, ONE_ANSWER),
    "POST /api/chat/{message_id}/answer": Case(PRIVATE, DECIDED_ONCE, body={"id": "question", "action": "accept"}),
    "POST /api/chat/{message_id}/approve": Case(PRIVATE, DECIDED_ONCE, body={"id": "call-fetch"}),
    "POST /api/chat/{message_id}/regenerate": Case(PRIVATE, ONE_ANSWER),
    "POST /api/chat/{message_id}/edit": Case(PRIVATE, ONE_ANSWER, body={"message": "other words"}),
    "GET /api/usage": Case(SHARED, bound=f"{MAX_DAYS} days"),  # of the caller alone; see test_usage.py
    "GET /api/usage/export": Case(SHARED, bound=f"{MAX_DAYS} days"),
    "GET /api/usage/month": Case(SHARED, bound="one month"),
    "GET /api/usage/limits": Case(SHARED, bound="one for each user", admins=True),  # for admins
    "PUT /api/usage/limits": Case(SHARED, SETS, admins=True, body={"scope": "team"}),
    "DELETE /api/usage/limits": Case(SHARED, ONCE, admins=True, query={"scope": "team"}),
    "GET /api/knowledge": Case(LISTING),
    "POST /api/knowledge": Case(
        LISTING, SAVES, bound=NOTE_BOUND, body={"content": "where the password is kept: in the safe"}
    ),
    "GET /api/knowledge/search": Case(
        LISTING,
        bound=f"a query of {MAX_QUERY:,} characters; see also the tool",
        query={"q": "password kept in the safe"},
    ),
    "GET /api/knowledge/tags": Case(LISTING, bound="one for each tag"),
    "GET /api/knowledge/authors": Case(LISTING, bound="one for each author"),
    "GET /api/knowledge/map": Case(LISTING, bound=f"{MAX_MAP_NOTES:,} notes"),
    "GET /api/knowledge/graph": Case(LISTING, bound=f"{MAX_GRAPH_NOTES:,} notes, {MAX_GRAPH_LINKS:,} links"),
    "GET /api/knowledge/export": Case(LISTING, bound="all that the caller may read, as a stream"),
    "POST /api/knowledge/import": Case(
        LISTING, IMPORTS_NOTES, bound=f"{MAX_FILES:,} files of {MAX_FILE_BYTES // MIB} MiB"
    ),
    "POST /api/knowledge/samples": Case(LISTING, IMPORTS_NOTES),
    "GET /api/knowledge/{note_id}": Case(PRIVATE),
    "PATCH /api/knowledge/{note_id}": Case(PRIVATE, SEEN_VERSION, bound=NOTE_BOUND, body={"content": "mine now"}),
    "PUT /api/knowledge/{note_id}": Case(PRIVATE, UNIQUE_ID, bound=NOTE_BOUND, body=NOTE),
    "GET /api/knowledge/trash": Case(LISTING),
    "GET /api/knowledge/trash/{note_id}": Case(PRIVATE),
    "POST /api/knowledge/trash/{note_id}/restore": Case(PRIVATE, ONCE),
    "DELETE /api/knowledge/trash/{note_id}": Case(PRIVATE, ONCE),
    "GET /api/knowledge/{note_id}/history": Case(PRIVATE),
    "GET /api/knowledge/{note_id}/history/{version}": Case(PRIVATE),
    "POST /api/knowledge/{note_id}/history/{version}/restore": Case(PRIVATE, MERGED),
    "DELETE /api/knowledge/{note_id}/history": Case(PRIVATE, DELETES),
    "DELETE /api/knowledge/{note_id}": Case(PRIVATE, DELETES),
    "GET /api/knowledge/{note_id}/similar": Case(PRIVATE),
    "PUT /api/knowledge/{note_id}/confirmation": Case(PRIVATE, MERGED),
    "PUT /api/knowledge/{note_id}/mark": Case(PRIVATE, SETS, body={"mark": "wrong"}),
    "POST /api/knowledge/cited": Case(SHARED, SETS, body={"notes": ["{shared_id}"]}),
    "GET /api/knowledge/recording": Case(SHARED, bound="one setting"),
    "PUT /api/knowledge/recording": Case(SHARED, SETS, body={"recording": False}),
    "DELETE /api/knowledge/{note_id}/confirmation": Case(PRIVATE, MERGED),
    "GET /api/knowledge/inbox": Case(LISTING, bound=f"{MAX_LISTED} proposals"),
    "GET /api/knowledge/inbox/count": Case(SHARED, bound="one number"),
    "POST /api/knowledge/inbox/{note_id}/accept": Case(PRIVATE, ONCE, body={}),
    "POST /api/knowledge/inbox/{note_id}/undo": Case(PRIVATE, ONCE),
    "POST /api/knowledge/inbox/{note_id}/merge": Case(
        PRIVATE, ONCE, body={"into": "{shared_id}", "content": "mine now"}
    ),
    "POST /api/knowledge/inbox/{note_id}/reject": Case(PRIVATE, ONCE),
    "GET /api/knowledge/spaces": Case(SHARED, bound="one for each space"),  # see test_spaces.py
    "PUT /api/knowledge/spaces/{name}": Case(SHARED, SPACES, admins=True, body={"title": "Operations"}),
    "DELETE /api/knowledge/spaces/{name}": Case(SHARED, MOVES_NOTES, admins=True),
    "PUT /api/knowledge/spaces/{name}/users/{user}": Case(SHARED, SETS, admins=True, body={"access": "read"}),
    "GET /api/knowledge/repositories": Case(SHARED, bound="one for each binding"),
    "PUT /api/knowledge/repositories": Case(SHARED, SETS, admins=True, body=BINDING),
    "GET /api/knowledge/review": Case(LISTING),
    "GET /api/knowledge/review/count": Case(SHARED, bound="one number"),
    "POST /api/knowledge/review/decisions": Case(
        SHARED, REVIEWS, body={"finding": "stale:{note_id}", "action": "archive"}
    ),
    "DELETE /api/knowledge/review/decisions/{decision_id}": Case(SHARED, REVIEWS),
    "GET /api/knowledge/{note_id}/links": Case(PRIVATE, bound=f"{MAX_LINKS} links, {MAX_BACKLINKS} backlinks"),
    "GET /api/knowledge/anchors": Case(LISTING, query={"repository": "github.com/org/repo"}),
    "POST /api/knowledge/anchors": Case(LISTING, SETS, bound=f"{MAX_RESULTS} checks", body=RESULTS),
    "GET /api/knowledge/anchors/changed": Case(LISTING),
    "POST /hooks/claude-code": Case(LISTING, RECALLS, body=PROMPT),
    "GET /hooks/status": Case(SHARED, bound="one status"),
    "GET /api/n8n/workflows": Case(SHARED),
    "GET /api/n8n/workflows/{workflow_id}": Case(SHARED, bound=PAGE_BOUND),
    "GET /api/n8n/workflows/{workflow_id}/executions": Case(SHARED),
    "GET /api/n8n/workflows/{workflow_id}/backups": Case(SHARED, bound=f"{MAX_BACKUPS} backups"),
    "PATCH /api/n8n/workflows/{workflow_id}": Case(SHARED, CHANGES_WORKFLOW),
    "POST /api/n8n/workflows/{workflow_id}/rehearsals": Case(SHARED, REHEARSES),
    "GET /api/n8n/executions/{execution_id}": Case(SHARED, bound=PAGE_BOUND),
    "GET /api/n8n/backups/{workflow_id}/{file}": Case(SHARED, bound="one backup"),
    "POST /api/n8n/backups/{workflow_id}/{file}/restore": Case(SHARED, CHANGES_WORKFLOW),
    "GET /api/bedrock-kb": Case(SHARED, bound="one status"),
    "POST /api/bedrock-kb/ask": Case(SHARED, STORES_NOTHING),
    "ANY /mcp/knowledge": Case(SHARED, CALLS_TOOL),
    "ANY /mcp/n8n": Case(SHARED, CALLS_TOOL),
    "ANY /mcp/bedrock-kb": Case(SHARED, CALLS_TOOL),
}
