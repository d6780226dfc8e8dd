"""Server-sent events from bytes. The SDK's own reader makes an object tree of every token, at three times the cost."""

from collections.abc import AsyncGenerator, AsyncIterator

_DOCUMENT = (b"{", b"[", b"<")  # no event begins so


async def read_data(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The data of each event, wherever the network cut the bytes; the last one need not be ended.

    Lines end in LF or CRLF. They are cut as bytes: text has more line ends than the protocol, U+2028 for one.
    A server that does not stream sends one document: that is given whole.
    """
    rest = b""
    data: list[bytes] = []
    is_document: bool | None = None
    async for piece in pieces:
        rest += piece
        if is_document is None and rest.strip():
            is_document = rest.lstrip().startswith(_DOCUMENT)
        if is_document:
            continue
        *lines, rest = rest.split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")  # noqa: PLW2901
            if line.startswith(b"data:"):
                data.append(_value(line))
            elif not line and data:
                yield b"\n".join(data)
                data = []
    if is_document:
        yield rest.lstrip()
    elif rest.startswith(b"data:"):
        data.append(_value(rest.rstrip(b"\r")))
    if data:
        yield b"\n".join(data)


def _value(line: bytes) -> bytes:
    return line[5:].removeprefix(b" ")
