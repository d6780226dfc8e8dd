"""The SQL that marks a session as unread. Callers own the transaction."""

from sqlalchemy import select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.models import MessageRow, SessionRow


async def set_unread(connection: Connection, message_id: str, *, owner: str) -> None:
    """Before the answer is changed, so that sessions are locked before messages, as elsewhere."""
    ended = select(MessageRow.session_id).where(MessageRow.id == message_id, MessageRow.owner == owner)
    statement = update(SessionRow).where(SessionRow.id == ended.scalar_subquery())
    await connection.execute(statement.values(unread_id=message_id))
