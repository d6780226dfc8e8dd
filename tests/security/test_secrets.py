"""Whatever fails outside, and however it fails: no secret of ours is in a log or in an answer.

The one who fails repeats every header and body that it was sent, as servers with debugging on do.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
from tests.security.process import app_process

from chie.access.users import UserFile

MARK = "zanzibar"
SECRETS = {
    "OPENAI_API_KEY": f"sk-{MARK}-openai-0123456789",
    "N8N_API_KEY": f"{MARK}-n8n-0123456789",
    "N8N_MCP_TOKEN": f"{MARK}-n8n-mcp-0123456789",
    "CHIE_EMBEDDING_KEY": f"{MARK}-embedding-0123456789",
    "AWS_ACCESS_KEY_ID": f"AKIA{MARK.upper()}0123",
    "AWS_SECRET_ACCESS_KEY": f"{MARK}-aws-0123456789",
    "AWS_SESSION_TOKEN": f"{MARK}-session-0123456789",
}


class Gossip(ThreadingHTTPServer):
    """`manner` is how it fails."""

    manner = "refuse"
    heard = 0


@contextmanager
def gossip() -> Iterator[Gossip]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            server: Any = self.server
            server.heard += 1
            sent = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
            if server.manner == "hang up":
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            text = f"you sent {json.dumps(headers)} and {sent}"
            body = json.dumps({"message": text, "error": {"message": text}, "detail": text}).encode()
            self.send_response({"refuse": 401, "fail": 500, "babble": 200}[server.manner])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = Gossip(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings(home: Path, outside: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    server = {"url": f"{outside}/mcp", "headers": {"Authorization": f"Bearer {MARK}-header-0123456789"}}
    (home / "servers.json").write_text(json.dumps({"mcpServers": {"elsewhere": server}}))
    agent = {"id": "tried", "kind": "openai", "servers": ["elsewhere", "n8n"]}
    (home / "agents.json").write_text(json.dumps({"agents": [agent]}))
    return SECRETS | {
        "OPENAI_BASE_URL": f"{outside}/v1",
        "CHIE_MODEL": "model",
        "N8N_URL": outside,
        "CHIE_EMBEDDING_URL": f"{outside}/v1",
        "BEDROCK_KB_ID": "KB12345678",
        "BEDROCK_MODEL_ARN": "arn:aws:bedrock:us-east-1::foundation-model/m",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": outside,
        "AWS_MAX_ATTEMPTS": "1",
        "CHIE_AUTH_ISSUER": outside,
        "CHIE_AUTH_AUDIENCE": "chie",
    }


def attempts(address: str, token: str) -> Iterator[httpx2.Response]:
    """Requests that make Chie call other servers, each with a secret."""
    with httpx2.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        yield client.post("/api/knowledge", json={"content": "something found out"})
        yield client.get("/api/knowledge/search", params={"q": "something"})
        yield client.get("/api/n8n/workflows")
        params = {"name": "n8n_health", "arguments": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        yield client.post("/mcp/n8n", json=body, headers={"accept": "application/json, text/event-stream"})
        yield client.post("/api/bedrock-kb/ask", json={"query": "what?"})
        yield client.post("/api/chat/stream", json={"message": "hello", "agent_id": "assistant"})
        yield client.post("/api/chat/stream", json={"message": "hello", "agent_id": "aws"})
        yield client.post("/v1/chat/completions", json={"model": "assistant", "messages": [_question()]})
        yield client.get("/api/setup")
        yield client.post("/api/setup/endpoints/openai/test")
        yield client.post("/api/mcp/servers/elsewhere/reconnect")
        yield client.get("/api/mcp/servers")
        yield client.get("/health")
        jwt = f"eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.{MARK}.{MARK}"
        yield client.get("/api/me", headers={"authorization": f"Bearer {jwt}"})
        yield client.post("/api/login", json={"token": f"chie_{MARK}"}, headers={"origin": address})
        yield client.get("/api/me", params={"access_token": f"{MARK}-in-the-address"})


def _question() -> dict[str, str]:
    return {"role": "user", "content": "hello"}


def test_no_secret_reaches_a_log_or_a_response(home: Path, tmp_path: Path) -> None:
    token = UserFile(home / "users.json").add("aki")
    log = tmp_path / "log"
    with gossip() as outside, app_process(log, settings(home, f"http://127.0.0.1:{outside.server_port}")) as address:
        for manner in ("refuse", "fail", "babble", "hang up"):
            outside.manner = manner
            before = outside.heard
            for answer in attempts(address, token):
                assert MARK not in answer.text.lower(), (manner, answer.request.url.path)
                assert token not in answer.text
            assert outside.heard > before + 4, "the outside was asked, and did repeat"
    text = log.read_text()
    assert "DEBUG" in text
    assert [line for line in text.splitlines() if MARK in line.lower() or token in line] == []
    audited = (home / "audit.log").read_text()
    assert "note.created" in audited
    assert MARK not in audited.lower()
