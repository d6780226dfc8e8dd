"""Server-sent events from bytes. The SDK's own reader builds an object tree per token, at three times the cost."""

_DOCUMENT_STARTS = (b"{", b"[", b"<")  # no event starts with one of these


class EventParser:
    """Returns the data of each event, however the network splits the bytes; the last event need not be terminated.

    Lines end in LF or CRLF and are split as bytes, because text has more line ends than the protocol (U+2028).
    A server that does not stream sends one document, which is returned whole by `finish`.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._is_document: bool | None = None

    def feed(self, received: bytes) -> list[bytes]:
        self._rest += received
        if self._is_document is None and self._rest.strip():
            self._is_document = self._rest.lstrip().startswith(_DOCUMENT_STARTS)
        if self._is_document:
            return []
        *lines, self._rest = self._rest.split(b"\n")
        return self._events(lines)

    def finish(self) -> list[bytes]:
        """Call once, after the last bytes."""
        return [self._rest.lstrip()] if self._is_document else self._events([self._rest, b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                self._data.append(text[5:].removeprefix(b" "))
            elif not text and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events
