"""MCP servers by URL that an admin adds in the page: in use at once, and their tokens stay secret."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chat.endpoints.app import MEMBER, App, files_below, opened, write_servers
from tests.fakes.mcp_over_http import McpOverHttp
from tests.fakes.oauth_mcp import OAuthMcp

from chie.chat.sessions.secret_box import KEY_FILE

pytestmark = pytest.mark.req("AG-5")

TOKEN = "鍵".encode().hex() + "-very-secret-token"


@pytest.fixture
def far() -> Iterator[McpOverHttp]:
    with McpOverHttp(stateless=True) as server:
        yield server


async def add(app: App, far: McpOverHttp, **fields: object) -> None:
    await app.json("POST", "/api/mcp/servers", {"name": "far", "url": far.url, **fields})


async def test_server_is_listed_and_usable_at_once_and_gone_after_removal(far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far, headers={"X-Team": TOKEN})
        assert (await app.servers())["far"]["state"] == "idle"
        state = await app.json("POST", "/api/mcp/servers/far/reconnect")
        assert [tool["name"] for tool in state["tools"]] == ["greet", "flood", "erase"]
        assistant = app.registry.get_agent("assistant")
        assert assistant.mcp_servers() == ("far",)
        outcome = await app.registry.toolbox.call_tool("greet", {})
        assert outcome.content == f"hello, {TOKEN}", "the header was sent"
        assert (await app.send("DELETE", "/api/mcp/servers/far")).status_code == 204
        assert await app.servers() == {}
        assert assistant.mcp_servers() == ()
        again = await app.send("DELETE", "/api/mcp/servers/far")
        assert (again.status_code, again.json()["code"]) == (404, "endpoints.server_not_found")


async def test_header_and_query_are_never_returned_and_are_encrypted(home: Path, far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far, url=f"{far.url}?key={TOKEN}", headers={"Authorization": f"Bearer {TOKEN}"})
        answers = [await app.send("GET", "/api/mcp/servers"), await app.send("PATCH", "/api/mcp/servers/far", {})]
        details = answers[0].json()["servers"][0]["added"]
        assert (details["url"], details["query"], details["headers"]) == (far.url, True, ["Authorization"])
        assert not any(TOKEN in answer.text for answer in answers)
        assert (await app.servers(MEMBER))["far"]["added"] is None, "only admins see where a server is"
    assert not [file for file, content in files_below(home).items() if TOKEN.encode() in content]


async def test_change_keeps_the_headers_that_are_not_sent(far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far, headers={"X-Team": "aki"})
        changed = await app.json("PATCH", "/api/mcp/servers/far", {"always_ask": True})
        assert changed["headers"] == ["X-Team"]
        await app.json("PATCH", "/api/mcp/servers/far", {"headers": {"X-Team": None, "X-More": "1"}})
        await app.json("POST", "/api/mcp/servers/far/reconnect")
        toolset = app.registry.toolbox.toolset(["far"])
        assert all(tool.always_ask for tool in toolset.tools()), "every call waits for approval"
        assert (await app.registry.toolbox.call_tool("greet", {})).content == "hello, aki"
        await app.json("PATCH", "/api/mcp/servers/far", {"headers": {"X-Team": "ben"}, "always_ask": False})
        await app.json("POST", "/api/mcp/servers/far/reconnect")
        assert (await app.registry.toolbox.call_tool("greet", {})).content == "hello, ben"


async def test_stored_header_is_not_sent_to_another_host(far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far, headers={"X-Team": TOKEN})
        for headers in ({}, {"headers": {"X-Team": None}}):
            elsewhere = {"url": "http://127.0.0.1:9/mcp", **headers}
            refused = await app.send("PATCH", "/api/mcp/servers/far", elsewhere)
            assert (refused.status_code, refused.json()["code"]) == (400, "endpoints.headers_needed_again")
            tested = await app.send("POST", "/api/mcp/servers/test", {"name": "far", "added": True, **elsewhere})
            assert tested.json()["code"] == "endpoints.headers_needed_again"
        moved = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Team": "another"}}
        assert (await app.json("PATCH", "/api/mcp/servers/far", moved))["url"] == moved["url"]


async def test_names_of_other_servers_are_refused(home: Path, far: McpOverHttp) -> None:
    write_servers(home, {"Theirs": {"url": far.url}, "off": {"url": far.url, "disabled": True}})
    async with opened() as app:
        await add(app, far)
        for name, code in (("theirs", "server_name_reserved"), ("off", "server_name_reserved"), ("FAR", "name_taken")):
            refused = await app.send("POST", "/api/mcp/servers", {"name": name, "url": far.url})
            assert (refused.status_code, refused.json()["code"]) == (409, f"endpoints.{code}"), name
        for method in ("PATCH", "DELETE"):
            refused = await app.send(method, "/api/mcp/servers/Theirs", {})
            assert refused.json()["code"] == "endpoints.server_not_found", "those of the file are changed there"
    write_servers(home, {"far": {"url": "http://127.0.0.1:9/mcp"}})
    async with opened() as app:
        assert (await app.servers())["far"]["added"] is None, "the operator's file wins"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"url": "file:///etc/passwd"}, "url_invalid"),
        ({"url": "http://user:pass@127.0.0.1/mcp"}, "url_with_secret"),
        ({"url": "http://169.254.169.254/latest"}, "url_forbidden"),
        ({"url": "http://[fe80::1]/mcp"}, "url_forbidden"),
        ({"url": "http://[::ffff:169.254.169.254]/mcp"}, "url_forbidden"),
        ({"url": "http://metadata.google.internal./mcp"}, "url_forbidden"),
        ({"headers": {"Host": "x"}}, "header_name_invalid"),
        ({"headers": {"a b": "x"}}, "header_name_invalid"),
        ({"headers": {"X-Key": "改行\n"}}, "header_value_invalid"),
        ({"headers": {"X-Key": None}}, "header_value_invalid"),
        ({"headers": {"X-Key": "1", "x-key": "2"}}, "headers_invalid"),
    ],
)
async def test_what_cannot_be_used_is_refused(far: McpOverHttp, fields: dict[str, object], code: str) -> None:
    async with opened() as app:
        body = {"name": "far", "url": far.url, **fields}
        for path in ("/api/mcp/servers", "/api/mcp/servers/test"):
            refused = await app.send("POST", path, body)
            assert (refused.status_code, refused.json()["code"]) == (400, f"endpoints.{code}")
        assert await app.servers() == {}


async def test_program_cannot_be_added() -> None:
    async with opened() as app:
        body = {"name": "x", "command": "/bin/sh", "args": ["-c", "touch /tmp/x"]}
        assert (await app.send("POST", "/api/mcp/servers", body)).status_code == 400


async def test_trial_tells_in_words_what_is_wrong(far: McpOverHttp) -> None:
    async with opened() as app:
        works = await app.json("POST", "/api/mcp/servers/test", {"url": far.url})
        assert (works["ok"], works["tools"]) == (True, ["greet", "flood", "erase"])
        down = await app.json("POST", "/api/mcp/servers/test", {"url": "http://127.0.0.1:9/mcp"})
        assert (down["ok"], down["reason_code"]) == (False, "toolbox.added_server_unreachable")
        assert "servers.json" not in down["reason"], "it is changed in the page"
        with OAuthMcp() as vault:
            asks = await app.json("POST", "/api/mcp/servers/test", {"url": vault.url})
            assert (asks["ok"], asks["login"]) == (True, True)
            body = {"url": vault.url, "headers": {"Authorization": f"Bearer {TOKEN}"}}
            wrong = await app.json("POST", "/api/mcp/servers/test", body)
        assert (wrong["ok"], wrong["reason_code"]) == (False, "toolbox.added_token_rejected")
        assert await app.servers() == {}, "nothing was stored"


async def test_server_of_another_machine_asks_for_its_url_again(home: Path, far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far, headers={"X-Team": TOKEN})
    (home / KEY_FILE).unlink()
    async with opened() as app:
        state = (await app.servers())["far"]
        assert (state["error_code"], state["added"]["readable"]) == ("endpoints.server_unreadable", False)
        refused = await app.send("PATCH", "/api/mcp/servers/far", {"always_ask": True})
        assert refused.json()["code"] == "endpoints.url_needed_again"
        await app.json("PATCH", "/api/mcp/servers/far", {"url": far.url, "headers": {"X-Team": "new"}})
        await app.json("POST", "/api/mcp/servers/far/reconnect")
        assert (await app.registry.toolbox.call_tool("greet", {})).content == "hello, new"


async def test_only_admins_change_servers(far: McpOverHttp) -> None:
    async with opened() as app:
        await add(app, far)
        body = {"name": "other", "url": far.url}
        requests = [
            ("POST", "/api/mcp/servers", body),
            ("POST", "/api/mcp/servers/test", body),
            ("PATCH", "/api/mcp/servers/far", {"always_ask": True}),
            ("DELETE", "/api/mcp/servers/far", None),
        ]
        for method, path, sent in requests:
            refused = await app.send(method, path, sent, user=MEMBER)
            assert (refused.status_code, refused.json()["code"]) == (403, "endpoints.admin_needed")
        assert list(await app.servers()) == ["far"]
