"""A page that shows MCP views as a chat host does, connected to one of our servers in its own process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FrameLocator, Page, Route
from tests.fakes import patient

SPEC_HOST = Path(__file__).with_name("view_host.js")
ADDRESS = "http://host.example/"
# The policy that the specification requires for a view without declared domains.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
HTML = """<!doctype html><meta charset="utf-8"><style>body{margin:0} iframe{border:0;width:100%;height:120px}</style>
<iframe sandbox="allow-scripts"></iframe><script src="host.js"></script>"""


@dataclass(frozen=True)
class Mcp:
    """A minimal MCP client for one of our servers."""

    address: str

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = patient.post(f"{self.address}/mcp", json=body, headers={"Accept": "application/json"})
        result: dict[str, Any] = answer.json()["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def view_of(self, tool: str) -> str:
        """The page that the tool's metadata refers to."""
        [found] = [one for one in self.ask("tools/list")["tools"] if one["name"] == tool]
        [content] = self.ask("resources/read", uri=found["_meta"]["ui"]["resourceUri"])["contents"]
        assert content["mimeType"] == "text/html;profile=mcp-app"
        text: str = content["text"]
        return text


@dataclass
class Host:
    page: Page
    mcp: Mcp
    fetched: list[str] = field(default_factory=list)
    browser_errors: list[str] = field(default_factory=list)

    @property
    def view(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    def open(self, tool: str, *, capabilities: dict[str, Any] | None = None, **context: Any) -> None:
        able = {"serverTools": {}, "openLinks": {}} if capabilities is None else capabilities
        options = {"capabilities": able, "context": {"theme": "light", "locale": "en-US", "timeZone": "UTC"} | context}
        self.page.evaluate("([html, options]) => host.open(html, options)", [self.mcp.view_of(tool), options])

    def show(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the tool as a model would, and pass its input and result to the view."""
        self.page.evaluate("(args) => host.input(args)", arguments)
        result = self.mcp.call(tool, **arguments)
        self.hand_over(result)
        return result

    def hand_over(self, result: dict[str, Any]) -> None:
        self.page.evaluate("(result) => host.result(result)", result)

    def change(self, **context: Any) -> None:
        self.page.evaluate("(context) => host.context(context)", context)

    def seen(self, method: str) -> list[Any]:
        return [one["params"] for one in self.page.evaluate("() => host.seen") if one["method"] == method]


@contextmanager
def hosting(chrome: Browser, mcp: Mcp, script: Path = SPEC_HOST, **options: Any) -> Iterator[Host]:
    """Fails if anything but the host's own two files is fetched, or if the page reports an error."""
    context = chrome.new_context(viewport={"width": 720, "height": 640}, **options)
    page = context.new_page()
    page.set_default_timeout(10_000)
    host = Host(page, mcp)

    def serve(route: Route) -> None:
        host.fetched.append(route.request.url)
        if route.request.url == ADDRESS:
            headers = {"Content-Security-Policy": POLICY}
            route.fulfill(body=HTML, content_type="text/html", headers=headers)
        else:
            route.fulfill(path=script, content_type="text/javascript")

    context.route("**/*", serve)
    page.on("console", lambda message: host.browser_errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: host.browser_errors.append(str(error)))
    page.expose_function("callTool", lambda name, arguments: mcp.call(name, **arguments))
    page.goto(ADDRESS)
    try:
        yield host
    finally:
        context.close()
    assert host.fetched == [ADDRESS, f"{ADDRESS}host.js"]
    assert host.browser_errors == []
