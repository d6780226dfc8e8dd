"""Page cursors: only what a list returned is accepted."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta, timezone

import pytest

from chie.database.cursor import decode, decode_position, encode, encode_position
from chie.errors import ValidationError

MOMENT = datetime(2026, 7, 1, 12, 30, 0, 5, tzinfo=UTC)


def test_cursor_holds_time_and_id() -> None:
    elsewhere = MOMENT.astimezone(timezone(timedelta(hours=9)))
    assert decode(encode(elsewhere, "an id")) == (MOMENT, "an id")
    assert decode_position(encode_position("7", "x")) == ("7", "x")


@pytest.mark.parametrize(
    "text",
    ["", "no-time id", "2026-07-01 id", "2026-07-01T12:30:00+00:00 id", "2026-07-01T12:30:00.000005+00:00 a\0b"],
)
def test_made_up_cursor_is_rejected(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        decode(urlsafe_b64encode(text.encode()).decode())
    assert caught.value.code == "database.cursor_invalid"


@pytest.mark.parametrize("cursor", ["made up", "日本", "a", "////"])
def test_text_that_is_not_base64_is_rejected(cursor: str) -> None:
    with pytest.raises(ValidationError) as caught:
        decode_position(cursor)
    assert caught.value.code == "database.cursor_invalid"
