"""Events are read the same however the network cuts the bytes."""

from collections.abc import AsyncIterator
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.chat.models.sse import read_data

TEXT = (
    'data: {"a": "日本\u2028語"}\n\n: a comment\n\nevent: x\r\ndata:one\r\ndata: two\r\n\r\nid: 7\n\ndata: [DONE]\n\n'
)
EXPECTED = ['{"a": "日本\u2028語"}', "one\ntwo", "[DONE]"]


def read(*pieces: bytes) -> list[str]:
    async def network() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def main() -> list[str]:
        return [data.decode() async for data in read_data(network())]

    return anyio.run(main)


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=8))
def test_events_survive_any_cut(cuts: list[int]) -> None:
    whole = TEXT.encode()
    edges = [0, *sorted(cuts), len(whole)]
    assert read(*(whole[start:end] for start, end in pairwise(edges))) == EXPECTED


@pytest.mark.parametrize("text", ["", "\n\n", "event: x", ": a comment"])
def test_what_has_no_data_is_no_event(text: str) -> None:
    assert read(text.encode()) == []


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_the_last_event_need_not_be_ended(end: str) -> None:
    assert read(b"data: one\n\ndata: two\ndata: three" + end.encode()) == ["one", "two\nthree"]


@given(st.lists(st.integers(0, 30), max_size=8))
def test_a_document_is_given_whole_however_it_is_cut(cuts: list[int]) -> None:
    whole = b'\n \r\n{\n "data: x": 1,\n\n "y": 2\n}\n'
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    assert read(*(whole[start:end] for start, end in pairwise(edges))) == ['{\n "data: x": 1,\n\n "y": 2\n}\n']
