"""Events are parsed the same however the network splits the bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.chat.models.sse import EventParser

TEXT = (
    'data: {"a": "日本\u2028語"}\n\n: a comment\n\nevent: x\r\ndata:one\r\ndata: two\r\n\r\nid: 7\n\ndata: [DONE]\n\n'
)
EXPECTED = ['{"a": "日本\u2028語"}', "one\ntwo", "[DONE]"]


def read(*received: bytes) -> list[str]:
    parser = EventParser()
    events = [event for part in received for event in parser.feed(part)]
    return [event.decode() for event in (*events, *parser.finish())]


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=8))
def test_events_survive_any_split(offsets: list[int]) -> None:
    whole = TEXT.encode()
    edges = [0, *sorted(offsets), len(whole)]
    assert read(*(whole[start:end] for start, end in pairwise(edges))) == EXPECTED


@pytest.mark.parametrize("text", ["", "\n\n", "event: x", ": a comment"])
def test_blocks_without_data_are_not_events(text: str) -> None:
    assert read(text.encode()) == []


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_last_event_need_not_be_terminated(end: str) -> None:
    assert read(b"data: one\n\ndata: two\ndata: three" + end.encode()) == ["one", "two\nthree"]


@given(st.lists(st.integers(0, 30), max_size=8))
def test_document_is_returned_whole_however_it_is_split(offsets: list[int]) -> None:
    whole = b'\n \r\n{\n "data: x": 1,\n\n "y": 2\n}\n'
    edges = [0, *sorted(min(offset, len(whole)) for offset in offsets), len(whole)]
    assert read(*(whole[start:end] for start, end in pairwise(edges))) == ['{\n "data: x": 1,\n\n "y": 2\n}\n']
