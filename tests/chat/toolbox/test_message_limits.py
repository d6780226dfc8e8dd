"""Servers that send too much, or what cannot be read. The calls have no time limit to speak of."""

import sys
import tracemalloc
from collections.abc import AsyncIterator
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.mcp_over_http import McpOverHttp

from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.message_limits import MAX_MESSAGE_BYTES, LineDecoder
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import create_transport
from chie.errors import NotFoundError
from chie.messages.catalogue import Language, Message

ROOT = Path(__file__).parents[3]
HOUR = 3600.0


@pytest.fixture
async def toolbox() -> AsyncIterator[Toolbox]:
    spec = ServerSpec(command=sys.executable, args=("-m", "tests.fakes.flood"), cwd=ROOT)
    connection = Connection("flood", create_transport(spec), timeout=HOUR, pauses=lambda: repeat(0.0))
    async with Toolbox([connection]) as toolbox:
        await toolbox.initialize_servers(["flood"])
        yield toolbox


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("huge", "toolbox.result_too_large"),
        ("huge_id_last", "toolbox.result_too_large"),
        ("deep", "toolbox.result_unreadable"),
        ("not_json", "toolbox.result_unreadable"),
    ],
)
async def test_bad_result_is_an_error_and_the_connection_stays(toolbox: Toolbox, tool: str, code: str) -> None:
    before = await toolbox.call_tool("pid", {})
    outcome = await toolbox.call_tool(tool, {})
    assert (outcome.is_error, outcome.code) == (True, code)
    assert (await toolbox.call_tool("pid", {})).content == before.content


@pytest.mark.parametrize("uri", ["ui://wrong", "ui://end"])
async def test_view_that_cannot_be_read_is_not_found(toolbox: Toolbox, uri: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        await toolbox.view("flood", uri)
    assert raised.value.code == "toolbox.view_not_found"


async def test_memory_is_bounded(toolbox: Toolbox) -> None:
    tracemalloc.start()
    try:
        await toolbox.call_tool("huge", {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * MAX_MESSAGE_BYTES


async def test_lone_surrogates_and_invalid_bytes_are_replaced(toolbox: Toolbox) -> None:
    assert (await toolbox.call_tool("surrogates", {})).content == "a\ufffd b😀 c\\ud83d \ufffd"
    assert (await toolbox.call_tool("not_utf8", {})).content == "\ufffd\ufffd caf\ufffd"


async def test_large_notification_is_dropped(toolbox: Toolbox) -> None:
    assert (await toolbox.call_tool("no_id", {})).content == "still here"


@pytest.mark.parametrize(("language", "phrase"), [("en", "larger than 8 MB"), ("ja", "8 MB を超えた")])
def test_error_can_be_read_in_both_languages(language: Language, phrase: str) -> None:
    assert phrase in Message("toolbox.result_too_large", tool="x", limit=8).text(language)


@pytest.mark.parametrize("stateless", [True, False])
async def test_large_result_over_http_is_an_error(stateless: bool) -> None:
    with McpOverHttp(stateless=stateless) as server:
        spec = ServerSpec(url=server.url)
        connection = Connection("far", create_transport(spec), timeout=HOUR, pauses=lambda: repeat(0.0))
        async with Toolbox([connection]) as toolbox:
            await toolbox.initialize_servers(["far"])
            outcome = await toolbox.call_tool("flood", {})
            assert outcome.is_error
            assert len(outcome.content) < 1000
            assert (await toolbox.call_tool("greet", {})).content == "hello, stranger"


@given(st.lists(st.binary(max_size=20)), st.integers(min_value=1, max_value=7))
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], step: int) -> None:
    data = b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines)
    whole, parts = LineDecoder().decode(data), LineDecoder()
    assert "".join(parts.decode(data[start : start + step]) for start in range(0, len(data), step)) == whole
    assert whole.count("\n") == len(lines)
