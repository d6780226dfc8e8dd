"""Which sessions a list shows."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, or_

from chie.chat.sessions.models import MessageRow, SessionRow
from chie.unicode import fold


@dataclass(frozen=True, kw_only=True)
class SessionFilter:
    """`query` is a text in titles and messages. Null means both: pinned or not, archived or not."""

    query: str | None = None
    pinned: bool | None = None
    archived: bool | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if self.pinned is not None:
            found.append(SessionRow.pinned_at.is_not(None) if self.pinned else SessionRow.pinned_at.is_(None))
        if self.archived is not None:
            found.append(SessionRow.archived_at.is_not(None) if self.archived else SessionRow.archived_at.is_(None))
        if self.query is not None:
            found.append(_contains(fold(self.query)))
        return found


def _contains(folded: str) -> ColumnElement[bool]:
    in_message = MessageRow.folded.contains(folded, autoescape=True)
    matching = exists().where(MessageRow.session_id == SessionRow.id, in_message)
    return or_(SessionRow.folded.contains(folded, autoescape=True), matching)
