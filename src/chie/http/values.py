"""What a request can be sent to, and with. HTTP clients meet the rest with any kind of error, so it is asked first."""

from urllib.parse import urlsplit


def is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # a port that cannot be is an error to urllib
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and text.isprintable()


def is_header(text: str) -> bool:
    """Keys are headers: no line break, no space at the ends, no full-width letters."""
    return text.isascii() and text.isprintable() and text == text.strip()
