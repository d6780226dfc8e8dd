"""Values of parsed JSON, of which every one may be missing or of another type than expected."""

from datetime import UTC, datetime
from typing import Any

from chie.chat.imports.entities import DamagedConversationError

_YEARS = range(2000, 2100)


def record(value: object) -> dict[str, Any]:
    """DamagedConversationError if it is no object."""
    if not isinstance(value, dict):
        raise DamagedConversationError
    return value


def optional_record(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def optional_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """Empty if it is no text. Without characters that a database cannot store."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "")


def plain(value: object) -> Any:  # noqa: ANN401
    """The same value with texts that a database can store."""
    if isinstance(value, dict):
        return {text(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return text(value) if isinstance(value, str) else value


def moment(value: object) -> datetime | None:
    """Seconds since 1970, or ISO 8601; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return found if found.year in _YEARS else None
