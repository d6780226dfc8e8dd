"""Prompts that users save. A user sees their own and those that others share; the author or an admin changes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, or_, select, update

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import new_id, now
from chie.chat.sessions.models import PromptRow
from chie.errors import ForbiddenError, NotFoundError, ValidationError
from chie.unicode import fold

MAX_NAME = 100
MAX_TEXT = 50_000
MAX_PROMPTS = 1_000  # of one user

_PROMPT = (
    PromptRow.id,
    PromptRow.user_id,
    PromptRow.name,
    PromptRow.text,
    PromptRow.shared,
    PromptRow.created_at,
    PromptRow.updated_at,
)


@dataclass(frozen=True, kw_only=True)
class PromptContent:
    name: str
    text: str
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class SavedPrompt(PromptContent):
    """`text` may have variables: `{{name}}`, `{{name=default}}`, `{{name=one|two}}`."""

    prompt_id: str
    user_id: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class PromptImport:
    """How many prompts were new, and how many the user had already."""

    imported: int
    existing: int


class PromptStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[SavedPrompt]:
        """Those that the user sees, by name."""
        async with self._database.read() as connection:
            rows = await connection.execute(select(*_PROMPT).where(_visible()))
            return sorted(map(_prompt, rows), key=lambda one: (fold(one.name), one.created_at))

    async def own(self) -> list[SavedPrompt]:
        return [one for one in await self.all() if one.user_id == current_user().id]

    async def get(self, prompt_id: str) -> SavedPrompt:
        async with self._database.read() as connection:
            return await _existing(connection, prompt_id)

    async def create(self, content: PromptContent) -> SavedPrompt:
        valid, user_id = _valid(content), known_user().id

        async def change(connection: Connection) -> SavedPrompt:
            await _check_limit(connection, user_id, 1)
            [created] = await _insert(connection, user_id, [valid])
            return created

        return await self._database.write(change)

    async def change(
        self, prompt_id: str, *, name: str | None = None, text: str | None = None, shared: bool | None = None
    ) -> SavedPrompt:
        async def change(connection: Connection) -> SavedPrompt:
            before = await _changeable(connection, prompt_id)
            valid = _valid(
                PromptContent(
                    name=before.name if name is None else name,
                    text=before.text if text is None else text,
                    shared=before.shared if shared is None else shared,
                )
            )
            after = replace(before, name=valid.name, text=valid.text, shared=valid.shared, updated_at=now())
            columns = {"name": after.name, "text": after.text, "shared": after.shared, "updated_at": after.updated_at}
            await connection.execute(update(PromptRow).where(PromptRow.id == prompt_id).values(columns))
            return after

        return await self._database.write(change)

    async def delete(self, prompt_id: str) -> None:
        async def change(connection: Connection) -> None:
            await _changeable(connection, prompt_id)
            await connection.execute(delete(PromptRow).where(PromptRow.id == prompt_id))

        await self._database.write(change)
        record("prompt.deleted", prompt_id)

    async def add_all(self, contents: Sequence[PromptContent]) -> PromptImport:
        """Adds those that the user does not have yet: an import can be repeated."""
        valid, user_id = [_valid(one) for one in contents], known_user().id

        async def change(connection: Connection) -> PromptImport:
            rows = await connection.execute(select(*_PROMPT).where(PromptRow.user_id == user_id))
            known = {(row.name, row.text) for row in rows}
            new = list({(one.name, one.text): one for one in valid if (one.name, one.text) not in known}.values())
            await _check_limit(connection, user_id, len(new))
            await _insert(connection, user_id, new)
            return PromptImport(imported=len(new), existing=len(valid) - len(new))

        return await self._database.write(change)


def _valid(content: PromptContent) -> PromptContent:
    """The name on one line, without surrounding blanks."""
    name = " ".join(content.name.split())
    if not name or not content.text.strip():
        raise ValidationError("prompts.blank")
    if len(name) > MAX_NAME or len(content.text) > MAX_TEXT:
        raise ValidationError("prompts.too_long", name_limit=MAX_NAME, text_limit=MAX_TEXT)
    if "\x00" in name + content.text:
        raise ValidationError("prompts.has_nul")
    return PromptContent(name=name, text=content.text, shared=content.shared)


async def _check_limit(connection: Connection, user_id: str, more: int) -> None:
    statement = select(func.count()).select_from(PromptRow).where(PromptRow.user_id == user_id)
    if (await connection.execute(statement)).scalar_one() + more > MAX_PROMPTS:
        raise ValidationError("prompts.too_many", limit=MAX_PROMPTS)


async def _insert(connection: Connection, user_id: str, contents: Sequence[PromptContent]) -> list[SavedPrompt]:
    moment = now()
    made = [
        SavedPrompt(
            prompt_id=new_id(),
            user_id=user_id,
            name=one.name,
            text=one.text,
            shared=one.shared,
            created_at=moment,
            updated_at=moment,
        )
        for one in contents
    ]
    rows = [
        {
            "id": one.prompt_id,
            "user_id": user_id,
            "name": one.name,
            "text": one.text,
            "shared": one.shared,
            "created_at": moment,
            "updated_at": moment,
        }
        for one in made
    ]
    if rows:
        await connection.execute(insert(PromptRow), rows)
    return made


async def _existing(connection: Connection, prompt_id: str) -> SavedPrompt:
    """NotFoundError for one that another user keeps to themselves, too."""
    row = (await connection.execute(select(*_PROMPT).where(PromptRow.id == prompt_id, _visible()))).first()
    if row is None:
        raise NotFoundError("prompts.not_found")
    return _prompt(row)


async def _changeable(connection: Connection, prompt_id: str) -> SavedPrompt:
    found, user = await _existing(connection, prompt_id), current_user()
    if found.user_id != user.id and not user.admin:
        raise ForbiddenError("prompts.not_yours")
    return found


def _visible() -> Any:  # noqa: ANN401  a condition
    return or_(PromptRow.user_id == current_user().id, PromptRow.shared)


def _prompt(row: Row[*tuple[Any, ...]]) -> SavedPrompt:
    return SavedPrompt(
        prompt_id=row.id,
        user_id=row.user_id,
        name=row.name,
        text=row.text,
        shared=row.shared,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
