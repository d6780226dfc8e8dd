"""Copies of workflows for rehearsals. Each is removed, also after a crash of this process or of this machine.

A copy is recognized by three marks together: a name that is random and carries its own checksum, a sticky note with
the same name, and that it is not published. Renaming a workflow by hand does not make it one.
A file that the process keeps locked while it uses a copy tells other processes that the copy is not abandoned.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

from chie import background
from chie.errors import ChieError, StorageError
from chie.files import make_folder, try_lock
from chie.messages.catalogue import Message
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import NotFoundError
from chie.n8n.models import Json, Workflow
from chie.n8n.rejected_keys import send_accepted_keys

logger = logging.getLogger(__name__)

PREFIX = "chie-rehearsal"
NOTE_TYPE = "n8n-nodes-base.stickyNote"
ABANDONED_AFTER = timedelta(minutes=30)  # for copies of other machines; a rehearsal takes two minutes at most
PAGE_SIZE = "100"

_NAME = re.compile(rf"{PREFIX} ([0-9a-f]{{32}}) ([0-9a-f]{{8}})")


class Copies:
    def __init__(self, client: N8nApiClient, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self._removals: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def copy(self, body: Json, notes: list[Message]) -> AsyncIterator[str]:
        """The id of a copy with this body, which exists until the block ends."""
        created: list[str] = []

        async def send(accepted: Json) -> None:
            created.append(str((await self._client.create_workflow(accepted))["id"]))

        with ExitStack() as stack:
            token = self._reserve(stack)
            try:
                await send_accepted_keys(send, marked(body, token), notes)
                yield created[0]
            finally:
                await self._finish(token, created)

    async def remove_abandoned(self) -> int:
        """Remove the copies of processes that have ended; n8n is only called if there are any."""
        removed = 0
        for path in sorted(self._folder.glob("*.lock")) if self._folder.exists() else ():
            with try_lock(path) as got:
                count = await self._remove_named(path.stem) if got else None
            if count is not None:
                path.unlink(missing_ok=True)
                removed += count
        return removed

    async def remove_old(self) -> int:
        """Remove the copies that cannot be in use any more, also those of other machines."""
        rows = (await self._client.list_workflows({"name": PREFIX, "limit": PAGE_SIZE})).rows
        old = [row for row in rows if is_copy(row) and _age(row) > ABANDONED_AFTER]
        for row in old:
            await self._delete(str(row["id"]))
        return len(old)

    def _reserve(self, stack: ExitStack) -> str:
        """A new token, whose file is locked until the stack is closed."""
        try:
            make_folder(self._folder)
            while True:
                token = token_hex(16)
                path = self._folder / f"{token}.lock"
                if stack.enter_context(try_lock(path)) and path.exists():  # or another process has just removed it
                    return token
        except OSError as error:
            name = type(error).__name__
            raise StorageError("n8n.rehearsal_folder_not_writable", folder=str(self._folder), error=name) from error

    async def _finish(self, token: str, created: list[str]) -> None:
        """Runs to its end also if the caller is cancelled."""
        task = background.once(self._remove(token, created), "n8n-copy-removal")
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)
        await asyncio.wait([task])

    async def _remove(self, token: str, created: list[str]) -> None:
        """Without an id n8n may still have made the copy: then it is looked up by name."""
        try:
            if created:
                await self._delete(created[0])
            else:
                await self._remove_named(token)
            (self._folder / f"{token}.lock").unlink(missing_ok=True)
        except (ChieError, OSError) as error:  # the file stays: the next start removes the copy
            logger.warning("[rehearse_change] The copy '%s' is removed at the next start: %s", _name(token), error)

    async def _remove_named(self, token: str) -> int:
        name = _name(token)
        rows = (await self._client.list_workflows({"name": name, "limit": PAGE_SIZE})).rows
        mine = [row for row in rows if row.get("name") == name and is_copy(row)]
        for row in mine:
            await self._delete(str(row["id"]))
        return len(mine)

    async def _delete(self, workflow_id: str) -> None:
        try:
            await self._client.delete_workflow(workflow_id)
        except NotFoundError:
            logger.info("[rehearse_change] The copy is gone already")


def is_copy(workflow: Workflow) -> bool:
    name = str(workflow.get("name"))
    found = _NAME.fullmatch(name)
    if found is None or found[2] != _checksum(found[1]) or workflow.get("active"):
        return False
    notes = [node for node in workflow.get("nodes") or [] if node.get("type") == NOTE_TYPE]
    return any(node.get("name") == name for node in notes)


def _name(token: str) -> str:
    return f"{PREFIX} {token} {_checksum(token)}"


def _checksum(token: str) -> str:
    return sha256(f"{PREFIX}:{token}".encode()).hexdigest()[:8]


def marked(body: Json, token: str) -> Json:
    """The body of a copy."""
    name = _name(token)
    note = {
        "id": str(uuid4()),
        "name": name,
        "type": NOTE_TYPE,
        "typeVersion": 1,
        "position": [0, -300],
        "parameters": {"content": "Made by rehearse_change of Chie, which removes it after the test run."},
    }
    return {**body, "name": name, "nodes": [*body["nodes"], note]}


def _age(workflow: Workflow) -> timedelta:
    try:
        return datetime.now(UTC) - datetime.fromisoformat(str(workflow.get("createdAt")))
    except (TypeError, ValueError):
        return timedelta(0)
