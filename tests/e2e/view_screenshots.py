"""The screenshots of the MCP views in docs/images: run `python -m tests.e2e.view_screenshots`."""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Browser
from tests.app.processes import http_server
from tests.contract.views import GRAPH, LONG, SEARCH, WORKFLOW
from tests.e2e.browser import browser
from tests.e2e.view_host import Mcp, hosting
from tests.fakes.n8n import KEY, FakeN8n

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NGINX = "nginx は 413 を返す。`server` の中に書く：\n```nginx\nclient_max_body_size 20m;\n```\n再読み込みを忘れない。"
CONNECTIONS = "worker_connections must be raised before worker_processes, or nginx drops connections under load."


def main() -> None:
    with tempfile.TemporaryDirectory() as home, FakeN8n(2) as n8n, browser() as chrome:
        os.environ |= {"CHIE_HOME": home, "N8N_URL": n8n.url, "N8N_API_KEY": KEY}
        n8n.add_workflow(id="orders1", **WORKFLOW)
        search(chrome)
        graph(chrome, Path(home) / "log")


def search(chrome: Browser) -> None:
    with http_server("chie", "mcp", "knowledge", "--http") as address:
        mcp = Mcp(address)
        mcp.call("save_knowledge", content=CONNECTIONS, title="nginx: connections first", tags=["nginx"])
        mcp.call(
            "save_knowledge",
            content=NGINX,
            title="nginx の 413",
            tags=["nginx", "本番"],
            source="https://wiki.example/413",
        )
        mcp.call("save_knowledge", content=LONG, title="PgBouncer で接続数を抑える", tags=["PostgreSQL", "運用"])
        with hosting(chrome, mcp) as host:
            host.open(SEARCH, locale="en-US")
            host.show(SEARCH, {"query": "nginx の接続数"})
            host.view.locator(".note").nth(2).wait_for()
            host.page.locator("iframe").screenshot(path=IMAGES / "view-search.png")


def graph(chrome: Browser, log: Path) -> None:
    command = ("chie", "mcp", "n8n", "--http", "--log-file", str(log))
    with http_server(*command) as address, hosting(chrome, Mcp(address)) as host:
        host.open(GRAPH, theme="dark", locale="ja-JP", availableDisplayModes=["inline", "fullscreen"])
        host.show(GRAPH, {"id": "orders1"})
        host.view.locator('[data-node="Webhook"] rect').click()
        host.view.locator(".details button").click()
        host.view.locator("pre").wait_for()
        host.page.locator("iframe").screenshot(path=IMAGES / "view-graph.png")


if __name__ == "__main__":
    main()
