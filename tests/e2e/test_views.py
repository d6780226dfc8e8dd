"""The MCP views in a host written from the specification, in Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from tests.contract.views import (
    GRAPH,
    SEARCH,
    Views,
    chrome,
    graph,
    host_script,
    knowledge,
    n8n,
    search,
)
from tests.e2e.test_accessibility import AXE, RUN_AXE
from tests.e2e.view_host import Host, Mcp, hosting

__all__ = ["chrome", "graph", "host_script", "knowledge", "n8n", "search"]


class TestInTheTestsOwnHost(Views):
    pass


@pytest.fixture
def lenient(chrome: Browser, knowledge: Mcp, n8n: Mcp) -> Iterator[dict[str, Host]]:
    """Hosts without a Content-Security-Policy, which axe needs."""
    with hosting(chrome, knowledge, bypass_csp=True) as search, hosting(chrome, n8n, bypass_csp=True) as graph:
        yield {SEARCH: search, GRAPH: graph}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("tool", "arguments", "control"), [(SEARCH, {"query": "PgBouncer"}, "button"), (GRAPH, {"id": "orders1"}, ".node")]
)
def test_axe_finds_nothing_serious(
    lenient: dict[str, Host], tool: str, arguments: dict[str, str], control: str, theme: str
) -> None:
    host = lenient[tool]
    host.open(tool, theme=theme)
    host.show(tool, arguments)
    host.view.locator(control).first.click()
    expect(host.view.locator(".details, .text:not(.short)").first).to_be_visible()
    frame = host.page.frames[1]
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    assert frame.evaluate(RUN_AXE) == []
