"""A complete event stream passes unchanged in any chunking; a truncated one raises."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.bedrock import output

from chie.bedrock_kb.truncation import CheckedBody, TruncatedStreamError

STREAMS = st.lists(st.text(max_size=40).map(output), max_size=5)


class Chunks:
    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes = data, sizes

    def stream(self) -> Iterator[bytes]:
        rest, sizes = self._data, iter(self._sizes)
        while rest:
            size = next(sizes, len(rest))
            yield rest[:size]
            rest = rest[size:]

    def close(self) -> None:
        """Nothing to close."""


def read(data: bytes, sizes: list[int]) -> bytes:
    return b"".join(CheckedBody(Chunks(data, sizes)).stream())


@settings(max_examples=200)
@given(frames=STREAMS, sizes=st.lists(st.integers(1, 50)))
def test_complete_events_pass_in_any_chunking(frames: list[bytes], sizes: list[int]) -> None:
    assert read(b"".join(frames), sizes) == b"".join(frames)


@settings(max_examples=200)
@given(data=st.data(), frames=STREAMS.filter(bool), sizes=st.lists(st.integers(1, 50)))
def test_stream_truncated_inside_an_event_raises(data: st.DataObject, frames: list[bytes], sizes: list[int]) -> None:
    cut = data.draw(st.integers(1, len(frames[-1]) - 1))
    with pytest.raises(TruncatedStreamError):
        read(b"".join(frames)[:-cut], sizes)
