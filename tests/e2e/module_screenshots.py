"""The screenshots of the module pages in docs/images: run `python -m tests.e2e.module_screenshots`."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.browser import browser
from tests.e2e.screen import Screen
from tests.e2e.screenshots import Shot, take
from tests.fakes import patient
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.test_api import backed_up, node

Json = dict[str, Any]

BASE = "n8n-nodes-base."
CHAIN = "@n8n/n8n-nodes-langchain."
NODES = [
    node("注文を受け取る", f"{BASE}webhook", (0, 120)),
    node("在庫を確認", f"{BASE}httpRequest", (230, 120)),
    node("在庫あり？", f"{BASE}if", (460, 120)),
    node("担当者に通知", f"{BASE}slack", (690, 0)),
    node("AI Agent", f"{CHAIN}agent", (690, 240)),
    node("Chat Model", f"{CHAIN}lmChatOpenAi", (600, 400)),
    node("Memory", f"{CHAIN}memoryBufferWindow", (790, 400)),
    node("Send mail", f"{BASE}emailSend", (940, 240)),
]
ERROR = {"message": "The service refused the connection - perhaps it is offline", "description": "ECONNREFUSED"}


def connections() -> Json:
    def to(name: str, kind: str = "main") -> Json:
        return {"node": name, "type": kind, "index": 0}

    return {
        "注文を受け取る": {"main": [[to("在庫を確認")]]},
        "在庫を確認": {"main": [[to("在庫あり？")]]},
        "在庫あり？": {"main": [[to("担当者に通知")], [to("AI Agent")]]},
        "Chat Model": {"ai_languageModel": [[to("AI Agent", "ai_languageModel")]]},
        "Memory": {"ai_memory": [[to("AI Agent", "ai_memory")]]},
        "AI Agent": {"main": [[to("Send mail")]]},
    }


def fill(n8n: FakeN8n, folder: Path) -> None:
    tags = [{"id": "1", "name": "店舗"}]
    flow = n8n.add_workflow(name="注文の通知", nodes=NODES, connections=connections(), active=True, tags=tags)
    for name in ("Nightly backup", "週次レポート"):
        n8n.add_workflow(name=name, active=True)
    began = datetime.now(UTC)
    for minutes in (90, 45, 20):
        n8n.add_execution(workflowId=flow["id"], **_times(began - timedelta(minutes=minutes)))
    one: Json = {"data": {"main": [[{"json": {}}]]}}
    ran: Json = {name: [one] for name in ("注文を受け取る", "在庫を確認", "在庫あり？")}
    result = {"runData": ran | {"AI Agent": [{"error": ERROR}]}, "error": ERROR, "lastNodeExecuted": "AI Agent"}
    n8n.add_execution(
        workflowId=flow["id"],
        status="error",
        data={"resultData": result},
        workflowData={"name": flow["name"], "nodes": NODES},
        **_times(began - timedelta(minutes=5)),
    )
    backed_up(folder, n8n, flow)


def _times(start: datetime) -> Json:
    return {"startedAt": start.isoformat(), "stoppedAt": (start + timedelta(seconds=4)).isoformat()}


def search(screen: Screen) -> None:
    screen.open("/#/knowledge/k-sample-docker-disk?q=ディスクの容量")
    expect(screen.page.locator(".kn-detail .kn-markdown")).to_be_visible()


def look(screen: Screen) -> None:
    screen.open("/#/knowledge?map")
    expect(screen.page.locator(".kn-plane")).to_be_visible()


def flow(screen: Screen) -> None:
    screen.open("/#/workflows")
    screen.page.locator(".wf-item").first.click()
    expect(screen.page.get_by_role("alert")).to_be_visible()


def connect(screen: Screen) -> None:
    screen.open("/#/servers")
    expect(screen.page.locator(".snippet").first).to_be_visible()


def set_up(screen: Screen) -> None:
    screen.open("/#/setup")
    expect(screen.page.locator(".su-endpoint").first).to_be_visible()


SHOTS: Mapping[str, Shot] = {
    "knowledge": Shot(search, "ja"),
    "knowledge-narrow": Shot(search, "ja", "dark", 360, 740),
    "map": Shot(look, "en", "dark"),
    "workflow": Shot(flow, "en", height=960),
    "servers": Shot(connect, "ja"),
    "setup": Shot(set_up, "en"),
}


@contextmanager
def sample_app(folder: Path) -> Iterator[str]:
    """The URL of an app with notes and an n8n."""
    with FakeN8n(2) as n8n:
        fill(n8n, folder)
        os.environ |= {"N8N_URL": n8n.url, "N8N_API_KEY": KEY, "N8N_BACKUP_DIR": str(folder / "backups")}
        with app_process(folder) as (address, _):
            patient.post(f"{address}/api/knowledge/samples").raise_for_status()
            yield address


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sample_app(Path(folder)) as address, browser() as opened:
        for name, shot in SHOTS.items():
            take(opened, address, name, shot)


if __name__ == "__main__":
    main()
