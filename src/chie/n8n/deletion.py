"""Deletes a workflow: back up, unpublish if n8n requires it, wait until n8n allows it, delete."""

import asyncio
from collections.abc import Awaitable, Callable

from chie.messages.catalogue import Message
from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError, NotFoundError
from chie.n8n.saving import Report

MAX_ATTEMPTS = 40
RETRY_PAUSE_SECONDS = 0.25


class WorkflowDeleter:
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
        backup = self._backups.write(stored, "delete")
        report = Report(stored, steps=[Message("n8n.step_backup_written", backup=backup)])
        if not await self._try_delete(workflow_id):
            await self._client.unpublish_workflow(workflow_id)
            report.steps.append(Message("n8n.step_unpublished"))
            await self._delete_once_unpublished(workflow_id)
        report.steps.append(Message("n8n.step_deleted"))
        return report

    async def _try_delete(self, workflow_id: str) -> bool:
        """False if n8n refuses for now, as it does while a workflow is published or being unpublished."""
        try:
            await self._client.delete_workflow(workflow_id)
        except ApiError as error:
            if error.status_code == 409:
                return False
            if error.status_code is None or error.status_code >= 500:
                return await self._is_gone(workflow_id, error)
            raise
        return True

    async def _is_gone(self, workflow_id: str, error: ApiError) -> bool:
        """After an inconclusive error: the workflow may have been deleted nevertheless."""
        try:
            await self._client.get_workflow(workflow_id)
        except NotFoundError:
            return True
        raise error

    async def _delete_once_unpublished(self, workflow_id: str) -> None:
        for _ in range(MAX_ATTEMPTS):
            if await self._try_delete(workflow_id):
                return
            await self._sleep(RETRY_PAUSE_SECONDS)
        await self._client.delete_workflow(workflow_id)
