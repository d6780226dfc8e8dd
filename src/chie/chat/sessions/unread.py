"""The SQL that marks a session as unread. Callers own the transaction."""

from sqlalchemy import bindparam, select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.models import MessageRow, SessionRow

_ENDED = select(MessageRow.session_id).where(
    MessageRow.id == bindparam("message"), MessageRow.owner == bindparam("holder")
)
_SET = (
    update(SessionRow).where(SessionRow.id == _ENDED.scalar_subquery()).values(unread_id=bindparam("message"))
)  # built once: building a statement costs more than running it


async def set_unread(connection: Connection, message_id: str, *, owner: str) -> None:
    """Before the answer is changed, so that sessions are locked before messages, as elsewhere."""
    await connection.execute(_SET, {"message": message_id, "holder": owner})
