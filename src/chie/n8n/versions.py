"""The versions of a workflow: those that n8n keeps, and our backups from before each change."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from starlette.concurrency import run_in_threadpool

from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.n8n.backup_diff import Difference, compare, restore_change
from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import NotFoundError, ValidationError, ValidationErrorContext
from chie.n8n.merge import Change
from chie.n8n.models import Json, Workflow

OF_N8N = ("nodes", "connections")  # n8n's versions have no more
CURRENT = "current"
MOMENT_DIGITS = 17  # of a year to those of a millisecond


@dataclass(frozen=True)
class VersionList:
    rows: list[Json]
    note: Message | None = None


class Versions:
    """A version is named by n8n's id of it, or by the name of the backup, which contains a slash."""

    def __init__(self, client: N8nApiClient, backups: Backups) -> None:
        self._client = client
        self._backups = backups

    async def list(self, workflow_id: str, limit: int) -> VersionList:
        """Newest first. A workflow that was deleted still has backups."""
        backups = await run_in_threadpool(lambda: list(islice(self._backups.list(workflow_id), limit)))
        rows = [{"version": one.backup, "time": one.time, "source": "backup", "before": one.reason} for one in backups]
        try:
            rows += await self._of_n8n(workflow_id, limit)
            note = None
        except NotFoundError:
            if not rows:
                raise
            note = Message("n8n.versions_of_deleted_workflow")
        except ChieError as error:
            note = Message("n8n.versions_not_listed", reason=error.reason)
        return VersionList(sorted(rows, key=_moment, reverse=True)[:limit], note)

    async def read(self, workflow_id: str, version: str) -> Workflow:
        if version == CURRENT:
            return await self._client.get_workflow(workflow_id)
        if "/" not in version:
            return await self._client.get_version(workflow_id, version)
        found = await run_in_threadpool(self._backups.read, version)
        if str(found["id"]) != workflow_id:
            raise ValidationError("n8n.version_of_another_workflow", ValidationErrorContext(field="version"))
        return found

    async def compare(self, workflow_id: str, old: str, new: str) -> tuple[Difference, Workflow, Workflow]:
        before, after = await self.read(workflow_id, old), await self.read(workflow_id, new)
        if not all("/" in version or version == CURRENT for version in (old, new)):
            before, after = _graph(before), _graph(after)
        return compare(before, after), before, after

    async def restoration(self, workflow_id: str, version: str) -> "Restoration":
        return Restoration(await self.read(workflow_id, version), whole="/" in version)

    async def _of_n8n(self, workflow_id: str, limit: int) -> Sequence[Json]:
        current = await self._client.get_workflow(workflow_id)
        rows = []
        for one in await self._client.list_versions(workflow_id, limit):
            row: Json = {"version": one["versionId"], "time": one.get("createdAt"), "source": "n8n"}
            row |= {key: one[key] for key in ("authors", "name") if one.get(key)}
            row |= {"current": True} if one["versionId"] == current.get("versionId") else {}
            row |= {"published": True} if one["versionId"] == current.get("activeVersionId") else {}
            rows.append(row)
        return rows


@dataclass(frozen=True)
class Restoration:
    """`whole` is a backup, which has settings and tags as well."""

    version: Workflow
    whole: bool

    def change(self, now: Workflow) -> Change:
        if self.whole:
            return restore_change(now, self.version)
        return Change({key: self.version[key] for key in OF_N8N}, keep="nothing")


def _moment(row: Json) -> tuple[str, bool]:
    """To the millisecond. A backup is written just before the version that replaces it."""
    time = str(row["version"]).partition("/")[2].partition("-")[0] if row["source"] == "backup" else str(row["time"])
    digits = "".join(filter(str.isdecimal, time)).ljust(MOMENT_DIGITS, "0")
    return digits[:MOMENT_DIGITS], row["source"] == "n8n"


def _graph(workflow: Workflow) -> Workflow:
    return {"name": "", **{key: workflow.get(key) for key in OF_N8N}}
