"""The SQL of attached files. Callers own the transaction."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Row, Select, delete, exists, false, func, insert, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import Attachment, new_id, now
from chie.chat.sessions.models import (
    AttachmentRow,
    FileRow,
    MessageAttachmentRow,
    MessageRow,
    QueuedAttachmentRow,
    QueuedRow,
)
from chie.chat.sessions.project_models import ProjectFileRow

UNSENT_LIFETIME = timedelta(days=1)
BATCH = 5_000

T = TypeVar("T")

_INSERT_LINKS = insert(MessageAttachmentRow)
_ATTACHMENT = (
    AttachmentRow.id,
    AttachmentRow.name,
    AttachmentRow.kind,
    AttachmentRow.media_type,
    AttachmentRow.width,
    AttachmentRow.height,
    AttachmentRow.characters,
    FileRow.size,
)
_LINKED = or_(
    exists().where(MessageAttachmentRow.attachment_id == AttachmentRow.id),
    exists().where(QueuedAttachmentRow.attachment_id == AttachmentRow.id),
    exists().where(ProjectFileRow.attachment_id == AttachmentRow.id),
)


async def save(
    connection: Connection, columns: dict[str, Any], data: bytes, *, on_sqlite: bool, linked: bool = False
) -> str:
    """The id of the attachment. The same file under the same name is one attachment, so an upload can be repeated.

    An existing row is updated, which locks it on PostgreSQL: nobody deletes it as unused before the commit. A repeated
    upload is remembered, because somebody is about to send the file again; `linked` says that this transaction does.
    """
    upsert = _upsert(on_sqlite=on_sqlite)
    file = upsert(FileRow).values(hash=columns["hash"], size=len(data), data=data)
    await connection.execute(file.on_conflict_do_update(index_elements=["hash"], set_={"size": len(data)}))
    statement = upsert(AttachmentRow).values(id=new_id(), created_at=now(), **columns)
    renewed = {name: statement.excluded[name] for name in ("created_at", "kind", "media_type", "text", "characters")}
    again = {} if linked else {"repeated_at": statement.excluded["created_at"]}
    changed = statement.on_conflict_do_update(index_elements=["user_id", "hash", "name"], set_=renewed | again)
    found: str = (await connection.execute(changed.returning(AttachmentRow.id))).scalar_one()
    return found


async def owned(connection: Connection, ids: Sequence[str], *, user_id: str, lock: bool = False) -> list[Attachment]:
    """Those of the user, in the given order. `lock` keeps others from deleting them until the transaction ends."""
    statement = select(*_ATTACHMENT).join(FileRow, FileRow.hash == AttachmentRow.hash)
    statement = statement.where(AttachmentRow.id.in_(ids), AttachmentRow.user_id == user_id)
    if lock:
        statement = statement.with_for_update(key_share=True, read=True, of=AttachmentRow)
    rows = {row.id: _attachment(row) for row in await connection.execute(statement)}
    return [rows[one] for one in ids if one in rows]


async def found(connection: Connection, ids: Sequence[str]) -> list[Attachment]:
    """In the given order, of any user: for callers that have checked who may read them."""
    statement = select(*_ATTACHMENT).join(FileRow, FileRow.hash == AttachmentRow.hash).where(AttachmentRow.id.in_(ids))
    rows = {row.id: _attachment(row) for row in await connection.execute(statement)}
    return [rows[one] for one in ids if one in rows]


async def data_of(connection: Connection, attachment_id: str) -> bytes | None:
    """As `found`."""
    statement = select(FileRow.data).join(AttachmentRow, FileRow.hash == AttachmentRow.hash)
    data: bytes | None = (await connection.execute(statement.where(AttachmentRow.id == attachment_id))).scalar()
    return data


async def text_of(connection: Connection, attachment_id: str) -> str | None:
    """As `found`."""
    statement = select(AttachmentRow.text).where(AttachmentRow.id == attachment_id)
    text: str | None = (await connection.execute(statement)).scalar()
    return text


async def copy(connection: Connection, ids: Sequence[str], *, user_id: str, on_sqlite: bool) -> dict[str, str]:
    """The same files as attachments of this user: the new ids by the old ones. The contents are stored once."""
    columns = [column for column in AttachmentRow.__table__.columns if column.name not in ("id", "user_id")]
    upsert, copies = _upsert(on_sqlite=on_sqlite), dict[str, str]()
    for row in await _rows(connection, select(AttachmentRow.id, *columns), ids):
        values = {**row._asdict(), "id": new_id(), "user_id": user_id, "created_at": now(), "repeated_at": None}
        statement = upsert(AttachmentRow).values(values)
        changed = statement.on_conflict_do_update(
            index_elements=["user_id", "hash", "name"], set_={"created_at": statement.excluded["created_at"]}
        )
        copies[row.id] = (await connection.execute(changed.returning(AttachmentRow.id))).scalar_one()
    return copies


async def content(connection: Connection, attachment_id: str, *, user_id: str) -> bytes | None:
    statement = select(FileRow.data).join(AttachmentRow, FileRow.hash == AttachmentRow.hash)
    statement = statement.where(AttachmentRow.id == attachment_id, AttachmentRow.user_id == user_id)
    found: bytes | None = (await connection.execute(statement)).scalar()
    return found


async def text(connection: Connection, attachment_id: str, *, user_id: str) -> str | None:
    statement = select(AttachmentRow.text).where(AttachmentRow.id == attachment_id, AttachmentRow.user_id == user_id)
    found: str | None = (await connection.execute(statement)).scalar()
    return found


async def link(connection: Connection, message_id: str, attachments: Sequence[Attachment]) -> None:
    rows = [
        {"message_id": message_id, "position": position, "attachment_id": one.attachment_id}
        for position, one in enumerate(attachments)
    ]
    if rows:
        await connection.execute(_INSERT_LINKS, rows)


async def link_queued(connection: Connection, queued_id: str, attachments: Sequence[Attachment]) -> None:
    rows = [
        {"queued_id": queued_id, "position": position, "attachment_id": one.attachment_id}
        for position, one in enumerate(attachments)
    ]
    if rows:
        await connection.execute(insert(QueuedAttachmentRow), rows)


async def of_queue(connection: Connection, session_id: str) -> dict[str, list[Attachment]]:
    """By queued message, in the order in which they were attached."""
    owner = QueuedAttachmentRow.queued_id
    statement = _attached(QueuedAttachmentRow, owner).join(QueuedRow, QueuedRow.id == owner)
    return await _by_owner(connection, statement.where(QueuedRow.session_id == session_id))


async def of_session(connection: Connection, session_id: str) -> dict[str, list[Attachment]]:
    """By message, in the order in which they were attached."""
    owner = MessageAttachmentRow.message_id
    statement = _attached(MessageAttachmentRow, owner).join(MessageRow, MessageRow.id == owner)
    return await _by_owner(connection, statement.where(MessageRow.session_id == session_id))


def _attached(
    link: type[QueuedAttachmentRow | MessageAttachmentRow], owner: InstrumentedAttribute[str]
) -> Select[*tuple[Any, ...]]:
    return (
        select(owner.label("owner"), *_ATTACHMENT)
        .join(AttachmentRow, AttachmentRow.id == link.attachment_id)
        .join(FileRow, FileRow.hash == AttachmentRow.hash)
        .order_by(owner, link.position)
    )


async def _by_owner(connection: Connection, statement: Select[*tuple[Any, ...]]) -> dict[str, list[Attachment]]:
    found: dict[str, list[Attachment]] = {}
    for row in await connection.execute(statement):
        found.setdefault(row.owner, []).append(_attachment(row))
    return found


async def ids_in_session(connection: Connection, session_id: str) -> set[str]:
    """Those of queued messages too."""
    sent = select(MessageAttachmentRow.attachment_id).join(MessageRow, MessageRow.id == MessageAttachmentRow.message_id)
    queued = select(QueuedAttachmentRow.attachment_id).join(QueuedRow, QueuedRow.id == QueuedAttachmentRow.queued_id)
    statement = sent.where(MessageRow.session_id == session_id).union(queued.where(QueuedRow.session_id == session_id))
    return set((await connection.execute(statement)).scalars())


async def unsent_before(connection: Connection, moment: datetime, *, limit: int) -> set[str]:
    """The oldest ones that nothing has, and that nobody has uploaded since."""
    statement = select(AttachmentRow.id).where(AttachmentRow.created_at < moment, ~_LINKED)
    oldest = statement.order_by(AttachmentRow.created_at).limit(limit)
    return set((await connection.execute(oldest)).scalars())


async def delete_unused(connection: Connection, ids: Collection[str]) -> int:
    """Of these attachments, those that no message and no project has, and the files that only they had; returns their
    number. One that was uploaded again within a day stays: it may be in a question that has not been sent yet.

    Locked first, in statements of their own: the next ones see what another transaction did with them meanwhile. Files
    come before attachments, as in `save`, so that the two do not wait for each other.
    """
    statement = select(AttachmentRow.id, AttachmentRow.hash)
    found = sorted((row.hash, row.id) for row in await _rows(connection, statement, ids))
    is_repeated = func.coalesce(AttachmentRow.repeated_at >= now() - UNSENT_LIFETIME, false())
    deleted = 0
    for some in _batches(found):
        hashes, own = {one for one, _ in some}, {one for _, one in some}
        files = select(FileRow.hash).where(FileRow.hash.in_(hashes)).order_by(FileRow.hash).with_for_update()
        await connection.execute(files)
        rows = select(AttachmentRow.id).where(AttachmentRow.id.in_(own)).order_by(AttachmentRow.id).with_for_update()
        await connection.execute(rows)
        unused = delete(AttachmentRow).where(AttachmentRow.id.in_(own), ~_LINKED, ~is_repeated)
        deleted += (await connection.execute(unused)).rowcount
        in_use = exists().where(AttachmentRow.hash == FileRow.hash)
        await connection.execute(delete(FileRow).where(FileRow.hash.in_(hashes), ~in_use))
    return deleted


async def _rows(
    connection: Connection, statement: Select[*tuple[Any, ...]], ids: Iterable[str]
) -> list[Row[*tuple[Any, ...]]]:
    """Those of any number of attachments."""
    found: list[Row[*tuple[Any, ...]]] = []
    for some in _batches(list(ids)):
        found += await connection.execute(statement.where(AttachmentRow.id.in_(some)))
    return found


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """A statement takes 65,535 parameters on PostgreSQL and 32,766 on SQLite."""
    return (values[start : start + BATCH] for start in range(0, len(values), BATCH))


def _upsert(*, on_sqlite: bool) -> Any:  # noqa: ANN401  the two have no common type
    """Loaded on first use: most processes need one dialect alone."""
    if on_sqlite:
        from sqlalchemy.dialects.sqlite import insert as upsert
    else:
        from sqlalchemy.dialects.postgresql import insert as upsert  # type: ignore[assignment]
    return upsert


def _attachment(row: Row[*tuple[Any, ...]]) -> Attachment:
    return Attachment(
        attachment_id=row.id,
        name=row.name,
        kind=row.kind,
        media_type=row.media_type,
        size=row.size,
        width=row.width,
        height=row.height,
        characters=row.characters,
    )
