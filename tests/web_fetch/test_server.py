"""The fetch server through an MCP client; its pages are on loopback, and `site.example` leads there."""

import gzip
import socket
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from fastmcp import Client
from tests.fakes.web_site import Response, WebSite, html, plain, redirect

from chie.messages.catalogue import Language, Message
from chie.web_fetch import converter
from chie.web_fetch.server import create_server
from chie.web_fetch.settings import FetchSettings
from chie.web_fetch.url_policy import UrlPolicy

PAGE = """<!doctype html><html><head><title>社内 Wiki &amp; guide</title><script>alert(1)</script></head><body>
<nav>menu</nav><main><h1>見出し</h1><p>Hello, <a href="../next?x=1">次</a> and <a href="javascript:x()">no</a>.</p>
<ul><li>一</li><li>two</li></ul><img src="/a.png" alt="a picture"></main><footer>legal</footer></body></html>"""


class Rebinding:
    """Each lookup gives the next of the addresses, as a hostile name server would."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        assert port
        if host.endswith("missing.example"):
            raise socket.gaierror
        if host.endswith(".example"):
            return [self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]]
        return ["127.0.0.1" if host == "localhost" else host]


@pytest.fixture
def site() -> Iterator[WebSite]:
    with WebSite({"/": html(PAGE)}) as site:
        yield site


def policy(site: WebSite, resolver: Rebinding | None = None) -> UrlPolicy:
    """`site.example` is allowed, `inside.example` is not; both are at the site's address."""
    return UrlPolicy([f"site.example:{site.port}"], resolver=resolver or Rebinding("127.0.0.1"))


async def fetch(
    given: UrlPolicy, url: str, *, mode: Literal["auto", "legacy"] = "auto", settings: Any = None, **more: Any
) -> Any:
    async with Client(create_server(FetchSettings(**(settings or {})), given), mode=mode) as client:
        return await client.call_tool_mcp("fetch", {"url": url, **more})


async def text(given: UrlPolicy, url: str, **more: Any) -> str:
    result = await fetch(given, url, **more)
    assert not result.is_error, result
    return str(result.content[0].text)


async def code(given: UrlPolicy, url: str, **more: Any) -> str:
    result = await fetch(given, url, **more)
    assert result.is_error
    return str(result.structured_content["code"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_html_becomes_markdown(site: WebSite, mode: Literal["auto", "legacy"]) -> None:
    url = f"http://site.example:{site.port}/"
    page = await text(policy(site), url, mode=mode)
    assert page.startswith(f"Contents of {url}:\n# 社内 Wiki & guide\n\n")
    for part in ("# 見出し", f"[次](http://site.example:{site.port}/next?x=1)", "- 一", "- two", "a picture"):
        assert part in page
    for part in ("alert", "menu", "legal", "javascript", "<"):
        assert part not in page
    assert site.requests == [(f"site.example:{site.port}", "/")]


async def test_raw_page_and_parts(site: WebSite) -> None:
    url = f"http://site.example:{site.port}/"
    assert "<script>alert(1)</script>" in await text(policy(site), url, raw=True)
    site.pages["/long"] = plain("".join(chr(0x4E00 + index % 100) for index in range(300)))
    first = await text(policy(site), url + "long", max_length=100)
    assert "start_index 100" in first
    second = await text(policy(site), url + "long", max_length=500, start_index=100)
    assert second.endswith("".join(chr(0x4E00 + index % 100) for index in range(100, 300)))
    assert "no text from this index" in await text(policy(site), url + "long", start_index=300)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>日本語の頁</p>".encode("shift_jis"), "text/html; charset=Shift_JIS"),
        ('<meta charset="euc-jp"><p>日本語の頁</p>'.encode("euc_jp"), "text/html"),
        ("<p>日本語の頁</p>".encode("cp932"), "text/html"),
        ("<p>日本語の頁</p>".encode("utf-16"), "text/html"),
        ("<p>日本語の頁</p>".encode(), "text/html; charset=no-such-charset"),
        ("<p>日本語の頁</p>".encode(), "text/html; charset=zip"),
    ],
)
async def test_character_sets(site: WebSite, body: bytes, content_type: str) -> None:
    site.pages["/x"] = Response(body, headers={"Content-Type": content_type})
    assert (await text(policy(site), f"http://site.example:{site.port}/x")).endswith("日本語の頁")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_compressed_page_and_bomb(site: WebSite, encoding: str) -> None:
    compress = gzip.compress if encoding == "gzip" else zlib.compress
    headers = {"Content-Type": "text/plain", "Content-Encoding": encoding}
    site.pages["/x"] = Response(compress("圧縮".encode() * 10), headers=headers)
    assert "圧縮圧縮" in await text(policy(site), f"http://site.example:{site.port}/x")
    site.pages["/bomb"] = Response(compress(b"\0" * 50_000_000), headers=headers)
    bomb = await text(policy(site), f"http://site.example:{site.port}/bomb", settings={"max_bytes": 2000})
    assert "larger than the size limit" in bomb
    assert len(bomb) < 3000


async def test_endless_page_is_read_up_to_the_limit(site: WebSite) -> None:
    site.pages["/endless"] = Response(b"x" * 100_000, headers={"Content-Type": "text/plain"}, repeat=10_000)
    page = await text(policy(site), f"http://site.example:{site.port}/endless", settings={"max_bytes": 3000})
    assert "larger than the size limit" in page
    assert page.count("x") < 4000


async def test_redirects_are_followed_and_each_is_checked(site: WebSite) -> None:
    url = f"http://site.example:{site.port}"
    site.pages["/a"] = redirect("/b")
    site.pages["/b"] = redirect(f"{url}/")
    assert (await text(policy(site), f"{url}/a")).startswith(f"Contents of {url}/:")
    for target in (
        site.url,
        f"http://inside.example:{site.port}/",
        f"http://localhost:{site.port}",
        f"http://[::1]:{site.port}/",
    ):
        site.pages["/out"] = redirect(target)
        assert await code(policy(site), f"{url}/out") == "web_fetch.address_refused"
    site.pages["/out"] = redirect("file:///etc/passwd")
    assert await code(policy(site), f"{url}/out") == "web_fetch.scheme_not_allowed"
    site.pages["/out"] = redirect("http://[")
    assert await code(policy(site), f"{url}/out") == "web_fetch.url_invalid"
    site.pages["/loop"] = redirect("/loop")
    assert await code(policy(site), f"{url}/loop") == "web_fetch.too_many_redirects"


async def test_checked_address_is_the_one_connected_to(site: WebSite) -> None:
    """The name is looked up once: a second lookup would lead to the site."""
    resolver = Rebinding("127.0.0.2", "127.0.0.1")
    opened = UrlPolicy(["127.0.0.2"], resolver=resolver)
    assert await code(opened, f"http://rebinding.example:{site.port}/") == "web_fetch.host_unreachable"
    assert resolver.answers == ["127.0.0.1"]
    assert site.requests == []


@pytest.mark.parametrize(
    ("path", "response", "expected"),
    [
        ("/missing", None, "web_fetch.status"),
        ("/picture", Response(b"\x89PNG", headers={"Content-Type": "image/png"}), "web_fetch.not_text"),
        (
            "/br",
            Response(b"x", headers={"Content-Type": "text/html", "Content-Encoding": "br"}),
            "web_fetch.body_invalid",
        ),
        (
            "/gz",
            Response(b"not compressed", headers={"Content-Type": "text/html", "Content-Encoding": "gzip"}),
            "web_fetch.body_invalid",
        ),
    ],
)
async def test_errors(site: WebSite, path: str, response: Response | None, expected: str) -> None:
    if response:
        site.pages[path] = response
    assert await code(policy(site), f"http://site.example:{site.port}{path}") == expected


@pytest.mark.parametrize(("language", "phrase"), [("en", "Use a public page"), ("ja", "公開ページを使う")])
async def test_refusal_can_be_read_in_both_languages(site: WebSite, language: Language, phrase: str) -> None:
    result = await fetch(policy(site), f"{site.url}/api/sessions")
    details = result.structured_content
    assert details["error_type"] == "ForbiddenError"
    assert phrase in Message(details["code"], **details["params"]).text(language)
    assert site.requests == []


async def test_closed_port_and_unknown_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    opened = UrlPolicy(["site.example"], resolver=Rebinding("127.0.0.1"))
    assert await code(opened, f"http://site.example:{port}/") == "web_fetch.host_unreachable"
    assert await code(opened, "http://missing.example/") == "web_fetch.host_not_found"


async def test_robots_file_is_an_option(site: WebSite) -> None:
    site.pages |= {"/robots.txt": plain("User-agent: *\nDisallow: /private"), "/private": html("<p>secret</p>")}
    url = f"http://site.example:{site.port}"
    assert "secret" in await text(policy(site), f"{url}/private")
    assert await code(policy(site), f"{url}/private", settings={"robots": True}) == "web_fetch.robots_disallow"
    assert "見出し" in await text(policy(site), f"{url}/", settings={"robots": True})
    del site.pages["/robots.txt"]
    assert "secret" in await text(policy(site), f"{url}/private", settings={"robots": True})


async def test_proxy_gets_the_request_but_not_for_private_addresses(site: WebSite) -> None:
    site.pages["http://page.example/"] = html("<p>through the proxy</p>")
    settings = {"proxy": site.url}
    proxied = UrlPolicy(proxied=True, resolver=Rebinding("93.184.215.14"))
    assert "through the proxy" in await text(proxied, "http://page.example/", settings=settings)
    site.pages["http://unknown.missing.example/"] = html("<p>resolved by the proxy</p>")
    assert "resolved" in await text(proxied, "http://unknown.missing.example/", settings=settings)
    assert await code(proxied, "http://127.0.0.1/", settings=settings) == "web_fetch.address_refused"


async def test_deeply_nested_page_is_plain_text(site: WebSite) -> None:
    site.pages["/deep"] = html("<div>" * 20_000 + "深い" + "</div>" * 20_000)
    assert (await text(policy(site), f"http://site.example:{site.port}/deep")).endswith("深い")


async def test_page_that_occupies_the_parser_is_given_up(site: WebSite) -> None:
    """Unclosed comments take Python's parser quadratic time: this page would take it hours."""
    site.pages["/hostile"] = html("<!--" * 1_000_000)
    url = f"http://site.example:{site.port}/hostile"
    assert await code(policy(site), url, settings={"timeout": 3}) == "web_fetch.timed_out"


async def test_converter_imports_nothing_from_the_current_folder(site: WebSite, tmp_path: Path) -> None:
    (tmp_path / "bs4.py").write_text("raise SystemExit(7)")  # the current folder of tests
    assert "見出し" in await text(policy(site), f"http://site.example:{site.port}/")


async def test_page_that_needs_too_much_memory_is_refused(site: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many elements as the memory is enough for: how many that is depends on the machine."""
    monkeypatch.setattr(converter, "MAX_MEMORY_BYTES", 120 << 20)  # to fill the whole of it takes minutes
    site.pages["/large"] = html("<b>" * 300_000)
    url = f"http://site.example:{site.port}/large"
    settings = {"timeout": 300, "max_bytes": 10_000_000}
    assert await code(policy(site), url, settings=settings) == "web_fetch.page_too_complex"
    assert "<b>" in await text(policy(site), url, raw=True)


async def test_tool_is_read_only_with_the_arguments_of_the_reference() -> None:
    async with Client(create_server(FetchSettings())) as client:
        [tool] = await client.list_tools()
    assert set(tool.input_schema["properties"]) == {"url", "max_length", "start_index", "raw"}
    assert tool.input_schema["required"] == ["url"]
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
