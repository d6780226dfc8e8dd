"""How a workflow is changed: read, back up, merge, check, write, tag, publish, read back, report each step."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from chie.errors import ChieError, ConflictError
from chie.n8n import structure, tags
from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import (
    ApiError,
    RefusedKeysError,
    UnansweredError,
    UnfinishedError,
    ValidationError,
    ValidationErrorContext,
)
from chie.n8n.merge import Change, Merged, chosen, merge, new_body
from chie.n8n.models import Json, Workflow, has_draft, tag_names
from chie.n8n.rejected_keys import send_accepted
from chie.n8n.verification import unlike


@dataclass
class Report:
    """What happened, and the workflow as n8n has it now."""

    workflow: Workflow
    changed: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Saver:
    def __init__(self, client: N8nApiClient, backups: Backups) -> None:
        self._client = client
        self._backups = backups
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def change(
        self,
        workflow_id: str,
        choose: Callable[[Workflow], Change],
        *,
        reason: str,
        version_id: str | None = None,
    ) -> Report:
        """`choose` sees the workflow as it is stored, and says what shall become of it.

        One change at a time: assistants call tools in parallel, and n8n has no lock that would keep them apart.
        """
        async with self._turns.setdefault(workflow_id, asyncio.Lock()):
            return await self._change(workflow_id, choose, reason, version_id)

    async def _change(
        self, workflow_id: str, choose: Callable[[Workflow], Change], reason: str, version_id: str | None
    ) -> Report:
        stored = await self._changeable(workflow_id, version_id)
        change = choose(stored)
        merged = merge(stored, change)
        report = Report(stored, merged.changed, notes=[*merged.notes, *_warnings(merged)])
        wanted_tags = _new_tags(stored, change)
        if not merged.changed and wanted_tags is None and change.active in (None, stored.get("active")):
            report.steps.append("nothing to change: n8n has it so already")
            return report
        report.steps.append(f"backup written: {self._backups.write(stored, reason)}")
        await self._apply(stored, change, merged, wanted_tags, report)
        return report

    async def rehearse(
        self, workflow_id: str, choose: Callable[[Workflow], Change], *, version_id: str | None = None
    ) -> Report:
        """What the change would do, and refused where it would be; nothing is written."""
        stored = await self._changeable(workflow_id, version_id)
        merged = merge(stored, choose(stored))
        return Report({**stored, **merged.body}, merged.changed, notes=[*merged.notes, *_warnings(merged)])

    async def create(self, fields: Json, *, active: bool | None, tag_list: list[str] | None) -> Report:
        wanted_tags = tags.clean(tag_list or [])
        body = new_body(fields)
        found = structure.check(body["nodes"], body["connections"])
        found.refuse()
        report = Report({}, notes=list(found.warnings))

        async def send(accepted: Json) -> None:
            report.workflow = await self._client.create_workflow(accepted)

        body = await send_accepted(send, body, report.notes)
        report.steps.append("created")
        workflow_id = str(report.workflow["id"])
        if wanted_tags:
            await self._later(report, self._tag(workflow_id, wanted_tags, report))
        if active:
            await self._later(report, self._publish(workflow_id, report))
        await self._read_back(workflow_id, body, list(body), report)
        return report

    async def publish(self, workflow_id: str, *, active: bool) -> Report:
        """Also makes a draft live, which a change of `active` alone would not."""
        stored = await self._client.get_workflow(workflow_id)
        _refuse_archived(stored)
        report = Report(stored)
        await (self._publish(workflow_id, report) if active else self._unpublish(workflow_id, report))
        report.workflow = await self._client.get_workflow(workflow_id)
        return report

    async def _changeable(self, workflow_id: str, version_id: str | None) -> Workflow:
        stored = await self._client.get_workflow(workflow_id)
        _refuse_archived(stored)
        _refuse_stale(stored, version_id)
        return stored

    async def _apply(
        self, stored: Workflow, change: Change, merged: Merged, wanted_tags: list[str] | None, report: Report
    ) -> None:
        workflow_id, was_active = str(stored["id"]), bool(stored.get("active"))
        sent = merged.body
        if change.active is False and was_active:  # first, so that the new version never goes live
            await self._unpublish(workflow_id, report)
        if merged.changed:
            as_draft = has_draft(stored) and change.active is not False
            sent = await self._later(report, self._put(workflow_id, merged, report, as_draft=as_draft))
            report.steps.append(f"saved: {', '.join(merged.changed)}")
        if wanted_tags is not None:
            await self._later(report, self._tag(workflow_id, wanted_tags, report))
        if change.active and not was_active:
            await self._later(report, self._publish(workflow_id, report))
        await self._read_back(workflow_id, sent, merged.changed, report)
        if still := _still_set(stored, merged, report.workflow):
            report.notes.append(f"n8n keeps {', '.join(still)}, which its API cannot unset: do that in n8n's editor")

    async def _put(self, workflow_id: str, merged: Merged, report: Report, *, as_draft: bool) -> Json:
        """Somebody's unfinished draft is not made live by a change to it, only by publish_workflow."""
        if as_draft:
            report.notes.append("it had unpublished changes, so this is not live either: publish_workflow makes it so")

        async def send(body: Json) -> None:
            await self._client.update_workflow(workflow_id, body, as_draft=as_draft)

        try:
            return await send_accepted(send, merged.body, report.notes)
        except RefusedKeysError as error:
            raise _would_publish(error) if error.where == "query" else error from None
        except UnansweredError as error:
            if not await self._is_stored(workflow_id, merged, error):
                raise ApiError(f"{error.fact} The change is not stored: try again.", context=error.context) from error
            report.notes.append("n8n's answer was lost on the way, but it has stored the change")
            return merged.body
        except ApiError as error:
            if not await self._is_stored(workflow_id, merged, error):
                raise
            report.steps.append(f"saved: {', '.join(merged.changed)}")
            raise UnfinishedError(
                "The change is stored, but n8n failed after saving it; a version that was live before stays live. "
                f"{error.message} Do not send the change again: mend the cause and publish_workflow, "
                "or take it back with restore_workflow.",
                error,
                report.steps,
            ) from error

    async def _is_stored(self, workflow_id: str, merged: Merged, error: ApiError) -> bool:
        """n8n saves before it publishes, so a refusal may follow a save: look what it has now."""
        try:
            now = await self._client.get_workflow(workflow_id)
        except ChieError:
            raise error from None
        return not unlike(now, merged.body, merged.changed)

    async def _tag(self, workflow_id: str, names: list[str], report: Report) -> None:
        tagged = await tags.resolve(self._client, names)
        await self._client.set_tags(workflow_id, tagged.ids)
        made = f" (new: {', '.join(tagged.created)})" if tagged.created else ""
        report.steps.append(f"tags set: {', '.join(names) or 'none'}{made}")

    async def _publish(self, workflow_id: str, report: Report) -> None:
        await self._client.publish_workflow(workflow_id)
        report.steps.append("published")

    async def _unpublish(self, workflow_id: str, report: Report) -> None:
        await self._client.unpublish_workflow(workflow_id)
        report.steps.append("unpublished")

    async def _later(self, report: Report, step: Awaitable[Any]) -> Any:  # noqa: ANN401
        """A step after others: if it fails, the caller must hear what was done before."""
        done = [text for text in report.steps if not text.startswith("backup")]
        try:
            return await step
        except UnfinishedError:
            raise
        except ChieError as error:
            if not done:
                raise
            raise UnfinishedError(
                f"Done: {'; '.join(done)}. Then a step failed: {error.message} What was done stays; go on from there.",
                error,
                report.steps,
            ) from error

    async def _read_back(self, workflow_id: str, sent: Json, keys: list[str], report: Report) -> None:
        report.workflow = await self._later(report, self._client.get_workflow(workflow_id))
        for key in unlike(report.workflow, sent, keys):
            report.notes.append(f"n8n stored {key} differently from what was sent: look at it with get_workflow")


def _refuse_archived(stored: Workflow) -> None:
    if stored.get("isArchived"):
        raise ValidationError(
            "The workflow is archived, and n8n changes no archived workflow: unarchive it in n8n first.",
            ValidationErrorContext(field="id", constraint="not archived"),
        )


def _refuse_stale(stored: Workflow, version_id: str | None) -> None:
    if version_id is not None and stored.get("versionId") not in (None, version_id):
        raise ConflictError(
            "Somebody changed this workflow since you read it, and nothing was written. "
            "Read it again with get_workflow, and make your change on that."
        )


def _would_publish(error: RefusedKeysError) -> ApiError:
    return ApiError(
        "The workflow has unpublished changes, and this n8n (before 2.35) would make them live together with yours; "
        "nothing was written. If that is wanted, publish_workflow first.",
        error.status_code,
        error.context,
    )


def _warnings(merged: Merged) -> list[str]:
    """Only a change of the graph is judged: a workflow that is odd already can still be renamed."""
    if not {"nodes", "connections"} & set(merged.changed):
        return []
    found = structure.check(merged.body["nodes"], merged.body["connections"])
    found.refuse()
    return found.warnings


def _still_set(before: Workflow, merged: Merged, now: Workflow) -> list[str]:
    """New versions of n8n merge settings: one that is left out stays, and only a few have a value that unsets them."""
    gone = [key for key in chosen(before.get("settings") or {}) if key not in merged.body["settings"]]
    return [f"settings.{key}" for key in gone if key in (now.get("settings") or {})]


def _new_tags(stored: Workflow, change: Change) -> list[str] | None:
    if change.tags is None:
        return None
    wanted = tags.clean(change.tags)
    return None if sorted(wanted) == sorted(tag_names(stored)) else wanted
