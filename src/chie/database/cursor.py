"""Opaque page cursors: the position of the last item of a page in the sort order, and its id."""

import base64
from datetime import UTC, datetime

from chie.errors import ValidationError


def utc_text(moment: datetime) -> str:
    """Always UTC and of one width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def encode(moment: datetime, item_id: str) -> str:
    """A cursor of a list that is sorted by time."""
    return encode_position(utc_text(moment), item_id)


def decode(cursor: str) -> tuple[datetime, str]:
    """ValidationError for anything that `encode` did not produce."""
    position, item_id = decode_position(cursor)
    try:
        moment = datetime.fromisoformat(position)
        valid = utc_text(moment) == position
    except (ValueError, OverflowError):
        valid = False
    if not valid:
        raise ValidationError("database.cursor_invalid")
    return moment, item_id


def encode_position(position: str, item_id: str) -> str:
    return base64.urlsafe_b64encode(f"{position} {item_id}".encode()).decode().rstrip("=")


def decode_position(cursor: str) -> tuple[str, str]:
    try:
        position, item_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split(" ", 1)
    except ValueError as error:
        raise ValidationError("database.cursor_invalid") from error
    if "\0" in item_id:  # which PostgreSQL rejects
        raise ValidationError("database.cursor_invalid")
    return position, item_id
