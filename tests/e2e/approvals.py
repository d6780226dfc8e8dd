"""An app whose model asks for three calls that wait for approval: a deletion, a changed note and a changed workflow."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.app.processes import http_server
from tests.fakes import patient
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.openai_server import OpenAIServer
from tests.n8n.caller import order_flow

TITLE = "3月5日の障害"
BEFORE = "原因は DNS。\n手で直した。"
AFTER = "原因は DNS。\nスクリプトで直した。"


@contextmanager
def waiting_app(settings: pytest.MonkeyPatch) -> Iterator[str]:
    with FakeN8n() as n8n, OpenAIServer() as model:
        workflow = n8n.add_workflow(**order_flow("請求書"))
        settings.setenv("OPENAI_BASE_URL", model.base_url)
        settings.setenv("N8N_URL", n8n.url)
        settings.setenv("N8N_API_KEY", KEY)
        with http_server("chie", "serve") as url:
            note = patient.post(f"{url}/api/knowledge", json={"title": TITLE, "content": BEFORE}).json()["id"]
            operation = {"op": "setField", "node": "Webhook", "path": "parameters.path", "value": "orders-v2"}
            calls = [
                Use("delete_knowledge", json.dumps({"id": note}), "c1"),
                Use("update_knowledge", json.dumps({"id": note, "content": AFTER}), "c2"),
                Use("patch_workflow", json.dumps({"id": workflow["id"], "operations": [operation]}), "c3"),
            ]
            model.script.extend([use(*calls), say("終わりました。")])
            yield url
