"""The routes of n8n's public API as methods."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from chie.n8n.errors import ApiError, NotFoundError
from chie.n8n.http import HttpClient
from chie.n8n.models import Execution, Page, Tag, Workflow
from chie.n8n.status_errors import Call

PAGE_SIZE = 250
MAX_PAGES = 100
PARALLEL_READS = 8


class N8nApiClient:
    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._publish_routes: tuple[str, ...] = ("publish", "activate")
        self._unpublish_routes: tuple[str, ...] = ("unpublish", "deactivate")

    @property
    def base(self) -> str:
        return self._http.base

    async def aclose(self) -> None:
        await self._http.aclose()

    async def is_up(self) -> bool:
        return await self._http.is_up()

    async def list_workflows(self, query: Mapping[str, str]) -> Page:
        return Page.of(await self._http.call(Call("GET", "/workflows", "list workflows"), query=query))

    async def all_workflows(self) -> list[Workflow]:
        """Complete workflows that are not archived. n8n's list lacks some keys, so each is read by itself."""
        rows = self._rows("/workflows", "list workflows", {"excludePinnedData": "true"})
        ids = [str(row["id"]) async for row in rows if not row.get("isArchived")]
        free = asyncio.Semaphore(PARALLEL_READS)

        async def read(workflow_id: str) -> Workflow | None:
            async with free:
                try:
                    return await self.get_workflow(workflow_id)
                except NotFoundError:  # deleted in the meantime
                    return None

        return [workflow for workflow in await asyncio.gather(*map(read, ids)) if workflow is not None]

    async def get_workflow(self, workflow_id: str) -> Workflow:
        workflow: Workflow = await self._http.call(_workflow("GET", workflow_id, "get workflow"))
        return workflow

    async def create_workflow(self, body: Mapping[str, Any]) -> Workflow:
        workflow: Workflow = await self._http.call(Call("POST", "/workflows", "create workflow"), body=body)
        return workflow

    async def update_workflow(self, workflow_id: str, body: Mapping[str, Any], *, as_draft: bool = False) -> Workflow:
        """n8n publishes the saved version of a published workflow at once, except with `as_draft` (since 2.35)."""
        query = {"publishIfActive": "false"} if as_draft else None
        call = _workflow("PUT", workflow_id, "update workflow")
        workflow: Workflow = await self._http.call(call, query=query, body=body)
        return workflow

    async def delete_workflow(self, workflow_id: str) -> None:
        await self._http.call(_workflow("DELETE", workflow_id, "delete workflow"))

    async def publish_workflow(self, workflow_id: str) -> None:
        route = await self._first_existing(workflow_id, self._publish_routes, "publish workflow")
        self._publish_routes = (route,)

    async def unpublish_workflow(self, workflow_id: str) -> None:
        route = await self._first_existing(workflow_id, self._unpublish_routes, "unpublish workflow")
        self._unpublish_routes = (route,)

    async def set_tags(self, workflow_id: str, tag_ids: Sequence[str]) -> None:
        body = [{"id": tag_id} for tag_id in tag_ids]
        await self._http.call(_workflow("PUT", workflow_id, "tag workflow", "/tags"), body=body)

    async def list_tags(self) -> list[Tag]:
        return [row async for row in self._rows("/tags", "list tags")]

    async def create_tag(self, name: str) -> Tag:
        tag: Tag = await self._http.call(Call("POST", "/tags", "create tag"), body={"name": name})
        return tag

    async def list_credentials(self) -> list[dict[str, Any]]:
        """Names and types; n8n never returns secrets. It has this route since 2.x."""
        return [row async for row in self._rows("/credentials", "list credentials")]

    async def list_versions(self, workflow_id: str, limit: int) -> list[dict[str, Any]]:
        """Newest first, without their content; n8n has this route since 2.x."""
        call = _workflow("GET", workflow_id, "list versions", "/history")
        return Page.of(await self._http.call(call, query={"limit": str(limit)})).rows

    async def get_version(self, workflow_id: str, version_id: str) -> Workflow:
        call = Call("GET", _path(workflow_id, "versions", version_id), "get version", "Version", version_id)
        version: Workflow = await self._http.call(call)
        return version

    async def list_executions(self, query: Mapping[str, str]) -> Page:
        return Page.of(await self._http.call(Call("GET", "/executions", "list executions"), query=query))

    async def get_execution(self, execution_id: str, *, include_data: bool) -> Execution:
        query = {"includeData": "true"} if include_data else {}
        call = _execution("GET", execution_id, "get execution")
        execution: Execution = await self._http.call(call, query=query)
        return execution

    async def retry_execution(self, execution_id: str, *, load_workflow: bool) -> Execution:
        call = _execution("POST", execution_id, "retry execution", "/retry")
        execution: Execution = await self._http.call(call, body={"loadWorkflow": load_workflow})
        return execution

    async def discover(self) -> dict[str, Any]:
        """The capabilities of this API key; n8n has this route since 2.14."""
        found: dict[str, Any] = await self._http.call(Call("GET", "/discover", "discover capabilities"))
        return found

    async def _rows(
        self, path: str, operation: str, filters: Mapping[str, str] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            query = {**(filters or {}), "limit": str(PAGE_SIZE)} | ({"cursor": cursor} if cursor else {})
            page = Page.of(await self._http.call(Call("GET", path, operation), query=query))
            for row in page.rows:
                yield row
            if page.cursor is None or page.cursor == cursor:  # a repeated cursor would never end
                return
            cursor = page.cursor

    async def _first_existing(self, workflow_id: str, names: Sequence[str], operation: str) -> str:
        """n8n renamed these routes in 2.33 and will drop the old names; the first one that exists is remembered."""
        for name in names[:-1]:
            try:
                await self._http.call(_workflow("POST", workflow_id, operation, f"/{name}"), body={})
            except NotFoundError:
                continue
            except ApiError as error:
                if error.status_code != 405:
                    raise
                continue
            return name
        await self._http.call(_workflow("POST", workflow_id, operation, f"/{names[-1]}"), body={})
        return names[-1]


def _path(workflow_id: str, *rest: str) -> str:
    return "/".join(["/workflows", *(quote(part, safe="") for part in (workflow_id, *rest))])


def _workflow(method: str, workflow_id: str, operation: str, rest: str = "") -> Call:
    return Call(method, f"/workflows/{quote(workflow_id, safe='')}{rest}", operation, "Workflow", workflow_id)


def _execution(method: str, execution_id: str, operation: str, rest: str = "") -> Call:
    return Call(method, f"/executions/{quote(execution_id, safe='')}{rest}", operation, "Execution", execution_id)
