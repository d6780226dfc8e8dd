"""How a workflow is deleted: back up, unpublish if n8n insists, wait until it lets go, delete."""

import asyncio
from collections.abc import Awaitable, Callable

from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError, NotFoundError
from chie.n8n.saving import Report

TRIES = 40
PAUSE = 0.25


class Remover:
    def __init__(
        self,
        client: N8nApiClient,
        backups: Backups,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._backups = backups
        self._sleep = sleep

    async def delete(self, workflow_id: str) -> Report:
        stored = await self._client.get_workflow(workflow_id)
        report = Report(stored, steps=[f"backup written: {self._backups.write(stored, 'delete')}"])
        if not await self._gone(workflow_id):
            await self._client.unpublish_workflow(workflow_id)
            report.steps.append("unpublished")
            await self._delete_when_free(workflow_id)
        report.steps.append("deleted, together with its executions")
        return report

    async def _gone(self, workflow_id: str) -> bool:
        """False where n8n will not delete it now, as it does with what is published or still being unpublished."""
        try:
            await self._client.delete_workflow(workflow_id)
        except ApiError as error:
            if error.status_code == 409:
                return False
            if error.status_code is None or error.status_code >= 500:
                return await self._vanished(workflow_id, error)
            raise
        return True

    async def _vanished(self, workflow_id: str, error: ApiError) -> bool:
        """After a failure that does not tell: is it gone all the same?"""
        try:
            await self._client.get_workflow(workflow_id)
        except NotFoundError:
            return True
        raise error

    async def _delete_when_free(self, workflow_id: str) -> None:
        for _ in range(TRIES):
            if await self._gone(workflow_id):
                return
            await self._sleep(PAUSE)
        await self._client.delete_workflow(workflow_id)
