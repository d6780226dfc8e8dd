"""Where a page of a list ended, as text that only a list can have given."""

import base64
import binascii
from datetime import UTC, datetime

from chie.errors import ValidationError
from chie.knowledge.note import Heading


def stamp(moment: datetime) -> str:
    """Always UTC and of one width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def after(last: Heading) -> str:
    return base64.urlsafe_b64encode(f"{stamp(last.created_at)} {last.id}".encode()).decode().rstrip("=")


def position(cursor: str) -> tuple[str, str]:
    """The moment and the id of the last note that was shown."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        moment, note_id = text.split(" ", 1)
        given = stamp(datetime.fromisoformat(moment)) == moment and "\0" not in note_id
    except (binascii.Error, ValueError, OverflowError):
        given = False
    if not given:
        raise ValidationError("cursor is not one that a list gave. Start again without a cursor.")
    return moment, note_id
