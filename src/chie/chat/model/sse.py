"""Server-sent events from bytes. The SDK's own reader makes an object tree of every token, at three times the cost."""

from collections.abc import AsyncGenerator, AsyncIterator


async def read_data(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The data of each event, wherever the network cut the bytes; an event that is not ended is not one.

    Lines end in LF or CRLF. They are cut as bytes: text has more line ends than the protocol, U+2028 for one.
    """
    rest = b""
    data: list[bytes] = []
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")  # noqa: PLW2901
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []
