"""Checks of what an HTTP request can be sent to, and with.

HTTP clients raise different errors for invalid URLs and headers; validate up front.
"""

import ipaddress
from urllib.parse import urlsplit


def is_http_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # urllib raises for a port out of range
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and text.isprintable()


def is_header_value(text: str) -> bool:
    """Whether a key can be sent in a header: printable ASCII without spaces at the ends."""
    return text.isascii() and text.isprintable() and text == text.strip()


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
