"""One request over a plain socket. `http.client` would double the start-up time of the command."""

from __future__ import annotations

import socket

MAX_RESPONSE_BYTES = 256 * 1024
PORTS = {"http": 80, "https": 443}


class ResponseError(Exception):
    """The other side speaks no HTTP, or the URL is not one."""


def post(url: str, body: bytes, token: str, timeout: float) -> tuple[int, bytes]:
    return request("POST", url, body, token, timeout)


def request(method: str, url: str, body: bytes, token: str, timeout: float) -> tuple[int, bytes]:
    """The status and the body. HTTP/1.0, so that the body ends with the connection."""
    scheme, host, port, path = split_url(url)
    lines = [
        f"{method} {path} HTTP/1.0",
        f"Host: {f'[{host}]' if ':' in host else host}{'' if port == PORTS[scheme] else f':{port}'}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    head = "\r\n".join(lines)
    if not head.isprintable() and any(ord(char) < 32 and char not in "\r\n" for char in head):
        raise ResponseError
    # A name as bytes is not encoded again: the codec for names in other scripts is slow to load.
    name: str = host.encode("ascii") if host.isascii() else host  # type: ignore[assignment]
    with socket.create_connection((name, port), timeout) as plain:
        connection = _encrypted(plain, host) if scheme == "https" else plain
        connection.sendall(head.encode("utf-8") + b"\r\n\r\n" + body)
        return _parsed(_read(connection))


def split_url(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and path."""
    scheme, _, rest = url.partition("://")
    netloc, slash, path = rest.partition("/")
    host, colon, port = netloc.rpartition(":") if not netloc.endswith("]") else (netloc, "", "")
    host = (host if colon else netloc).strip("[]")
    if scheme not in PORTS or not host or "@" in netloc or not (port.isdigit() if colon else True):
        raise ResponseError
    return scheme, host, int(port) if colon else PORTS[scheme], slash + path or "/"


def _encrypted(plain: socket.socket, host: str) -> socket.socket:
    import ssl

    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _read(connection: socket.socket) -> bytes:
    parts, size = [], 0
    while size <= MAX_RESPONSE_BYTES and (part := connection.recv(65536)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _parsed(response: bytes) -> tuple[int, bytes]:
    head, found, body = response.partition(b"\r\n\r\n")
    version, _, rest = head.partition(b" ")
    status = rest[:3]
    if not found or not version.startswith(b"HTTP/") or not status.isdigit():
        raise ResponseError
    return int(status), body
