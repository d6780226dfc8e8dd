"""Changes a workflow: read, back up, merge, validate, write, tag, publish, read back; every step is reported."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from chie.errors import ChieError, ConflictError
from chie.messages.catalogue import Message
from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import (
    ApiError,
    NoResponseError,
    PartialChangeError,
    RejectedKeysError,
    ValidationError,
    ValidationErrorContext,
)
from chie.n8n.merge import RESET_VALUES, Change, Merged, explicit_settings, merge, new_body
from chie.n8n.models import Json, Workflow, has_draft, tag_names
from chie.n8n.nodes.validator import ParameterValidator
from chie.n8n.rejected_keys import send_accepted_keys
from chie.n8n.validation import validate

BACKUP_WRITTEN = "n8n.step_backup_written"
MAX_TAG_LENGTH = 24
RESTORE = "restore"  # an earlier state is restored as it was


@dataclass
class Report:
    """The completed steps, and the workflow as n8n has it now."""

    workflow: Workflow
    changed: list[str] = field(default_factory=list)
    steps: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


@dataclass(frozen=True)
class _ResolvedTags:
    """n8n's API takes tag ids, and only through a route of their own."""

    ids: list[str]
    created: list[str]


class WorkflowSaver:
    def __init__(self, client: N8nApiClient, backups: Backups, validator: ParameterValidator) -> None:
        self._client = client
        self._backups = backups
        self._validator = validator
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def change(
        self,
        workflow_id: str,
        choose: Callable[[Workflow], Change],
        *,
        reason: str,
        version_id: str | None = None,
    ) -> Report:
        """Apply the change that `choose` returns for the stored workflow.

        Changes of one workflow are serialized: assistants call tools in parallel, and n8n has no lock.
        """
        async with self._locks.setdefault(workflow_id, asyncio.Lock()):
            return await self._change(workflow_id, choose, reason, version_id)

    async def _change(
        self, workflow_id: str, choose: Callable[[Workflow], Change], reason: str, version_id: str | None
    ) -> Report:
        stored = await self._read_for_change(workflow_id, version_id)
        change = choose(stored)
        merged = merge(stored, change)
        warnings = await self._validate(stored, merged, refuse_parameters=reason != RESTORE)
        report = Report(stored, merged.changed, notes=[*merged.notes, *warnings])
        new_tags = _new_tags(stored, change)
        if not merged.changed and new_tags is None and change.active in (None, stored.get("active")):
            report.steps.append(Message("n8n.step_nothing_to_change"))
            return report
        report.steps.append(Message(BACKUP_WRITTEN, backup=self._backups.write(stored, reason)))
        await self._apply(stored, change, merged, new_tags, report)
        return report

    async def dry_run(
        self, workflow_id: str, choose: Callable[[Workflow], Change], *, version_id: str | None = None
    ) -> Report:
        """The report and the errors that the change would have; nothing is written."""
        stored = await self._read_for_change(workflow_id, version_id)
        merged = merge(stored, choose(stored))
        warnings = await self._validate(stored, merged)
        return Report({**stored, **merged.body}, merged.changed, notes=[*merged.notes, *warnings])

    async def create(self, fields: Json, *, active: bool | None, tag_list: list[str] | None) -> Report:
        new_tags = _clean_tags(tag_list or [])
        body = new_body(fields)
        issues = await self._validator.add(validate(body["nodes"], body["connections"]), body)
        issues.raise_errors()
        report = Report({}, notes=list(issues.warnings))

        async def send(accepted: Json) -> None:
            report.workflow = await self._client.create_workflow(accepted)

        body = await send_accepted_keys(send, body, report.notes)
        report.steps.append(Message("n8n.step_created"))
        workflow_id = str(report.workflow["id"])
        if new_tags:
            await self._next_step(report, self._tag(workflow_id, new_tags, report))
        if active:
            await self._next_step(report, self._publish(workflow_id, report))
        await self._read_back(workflow_id, body, list(body), report)
        return report

    async def publish(self, workflow_id: str, *, active: bool) -> Report:
        """Publish the stored version, drafts included, or unpublish the workflow."""
        stored = await self._client.get_workflow(workflow_id)
        _reject_archived(stored)
        report = Report(stored)
        await (self._publish(workflow_id, report) if active else self._unpublish(workflow_id, report))
        report.workflow = await self._client.get_workflow(workflow_id)
        return report

    async def _read_for_change(self, workflow_id: str, version_id: str | None) -> Workflow:
        stored = await self._client.get_workflow(workflow_id)
        _reject_archived(stored)
        _reject_stale(stored, version_id)
        return stored

    async def _validate(self, stored: Workflow, merged: Merged, *, refuse_parameters: bool = True) -> list[Message]:
        """Only a changed graph is validated: a workflow that is invalid already can still be renamed."""
        if not {"nodes", "connections"} & set(merged.changed):
            return []
        issues = validate(merged.body["nodes"], merged.body["connections"])
        if "nodes" in merged.changed:
            issues = await self._validator.add(issues, merged.body, stored, refuse=refuse_parameters)
        issues.raise_errors()
        return issues.warnings

    async def _apply(
        self, stored: Workflow, change: Change, merged: Merged, new_tags: list[str] | None, report: Report
    ) -> None:
        workflow_id, was_active = str(stored["id"]), bool(stored.get("active"))
        sent = merged.body
        if change.active is False and was_active:  # first, so that the new version never goes live
            await self._unpublish(workflow_id, report)
        if merged.changed:
            as_draft = has_draft(stored) and change.active is not False
            sent = await self._next_step(report, self._put(workflow_id, merged, report, as_draft=as_draft))
            report.steps.append(Message("n8n.step_saved", fields=merged.changed))
        if new_tags is not None:
            await self._next_step(report, self._tag(workflow_id, new_tags, report))
        if change.active and not was_active:
            await self._next_step(report, self._publish(workflow_id, report))
        await self._read_back(workflow_id, sent, merged.changed, report)
        if still := _still_set(stored, merged, report.workflow):
            report.notes.append(Message("n8n.settings_not_unset", settings=still))

    async def _put(self, workflow_id: str, merged: Merged, report: Report, *, as_draft: bool) -> Json:
        """A change to an unpublished draft does not publish it; only publish_workflow does."""
        if as_draft:
            report.notes.append(Message("n8n.saved_as_draft"))

        async def send(body: Json) -> None:
            await self._client.update_workflow(workflow_id, body, as_draft=as_draft)

        try:
            return await send_accepted_keys(send, merged.body, report.notes)
        except RejectedKeysError as error:
            raise _would_publish(error) if error.part == "query" else error from None
        except NoResponseError as error:
            if not await self._is_stored(workflow_id, merged, error):
                message = Message("n8n.change_not_stored", **error.reason.params)
                raise ApiError(message, context=error.context) from error
            report.notes.append(Message("n8n.response_lost"))
            return merged.body
        except ApiError as error:
            if not await self._is_stored(workflow_id, merged, error):
                raise
            report.steps.append(Message("n8n.step_saved", fields=merged.changed))
            message = Message("n8n.failed_after_save", reason=error.reason)
            raise PartialChangeError(message, error, report.steps) from error

    async def _is_stored(self, workflow_id: str, merged: Merged, error: ApiError) -> bool:
        """Whether n8n has the change: it saves before it publishes, so an error may follow a save."""
        try:
            now = await self._client.get_workflow(workflow_id)
        except ChieError:
            raise error from None
        return not _differing_keys(now, merged.body, merged.changed)

    async def _tag(self, workflow_id: str, names: list[str], report: Report) -> None:
        resolved = await _resolve_tags(self._client, names)
        await self._client.set_tags(workflow_id, resolved.ids)
        created = Message("n8n.new_tags", tags=resolved.created) if resolved.created else ""
        step = Message("n8n.step_tags_set", tags=names, created=created) if names else Message("n8n.step_tags_removed")
        report.steps.append(step)

    async def _publish(self, workflow_id: str, report: Report) -> None:
        await self._client.publish_workflow(workflow_id)
        report.steps.append(Message("n8n.step_published"))

    async def _unpublish(self, workflow_id: str, report: Report) -> None:
        await self._client.unpublish_workflow(workflow_id)
        report.steps.append(Message("n8n.step_unpublished"))

    async def _next_step(self, report: Report, step: Awaitable[Any]) -> Any:  # noqa: ANN401
        """Run a step after others; its error is reported together with the completed steps."""
        done = [earlier for earlier in report.steps if earlier.code != BACKUP_WRITTEN]
        try:
            return await step
        except PartialChangeError:
            raise
        except ChieError as error:
            if not done:
                raise
            message = Message("n8n.step_failed", done=done, reason=error.reason)
            raise PartialChangeError(message, error, report.steps) from error

    async def _read_back(self, workflow_id: str, sent: Json, keys: list[str], report: Report) -> None:
        report.workflow = await self._next_step(report, self._client.get_workflow(workflow_id))
        for key in _differing_keys(report.workflow, sent, keys):
            report.notes.append(Message("n8n.stored_differently", field=key))


def _reject_archived(stored: Workflow) -> None:
    if stored.get("isArchived"):
        context = ValidationErrorContext(field="id", constraint="not archived")
        raise ValidationError("n8n.workflow_archived", context)


def _reject_stale(stored: Workflow, version_id: str | None) -> None:
    if version_id is not None and stored.get("versionId") not in (None, version_id):
        raise ConflictError("n8n.workflow_changed")


def _would_publish(error: RejectedKeysError) -> ApiError:
    return ApiError("n8n.would_publish_draft", error.status_code, error.context)


def _still_set(before: Workflow, merged: Merged, now: Workflow) -> list[str]:
    """New versions of n8n merge settings: omitted ones stay, and only a few have a value that unsets them."""
    removed = [key for key in explicit_settings(before.get("settings") or {}) if key not in merged.body["settings"]]
    return [f"settings.{key}" for key in removed if key in (now.get("settings") or {})]


def _new_tags(stored: Workflow, change: Change) -> list[str] | None:
    if change.tags is None:
        return None
    cleaned = _clean_tags(change.tags)
    return None if sorted(cleaned) == sorted(tag_names(stored)) else cleaned


def _clean_tags(names: list[str]) -> list[str]:
    """Unique, in the given order. Names that are too long are rejected: n8n would report them as duplicates."""
    cleaned = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if any(len(name) > MAX_TAG_LENGTH for name in cleaned):
        context = ValidationErrorContext(field="tags", constraint=f"at most {MAX_TAG_LENGTH} characters")
        raise ValidationError("n8n.tag_too_long", context, limit=MAX_TAG_LENGTH)
    return cleaned


async def _resolve_tags(client: N8nApiClient, names: list[str]) -> _ResolvedTags:
    """The ids of these tags; missing tags are created."""
    known = {str(tag["name"]): str(tag["id"]) for tag in await client.list_tags()} if names else {}
    created = [name for name in names if name not in known]
    for name in created:
        known[name] = str((await client.create_tag(name))["id"])
    return _ResolvedTags([known[name] for name in names], created)


def _differing_keys(stored: Workflow, sent: Json, keys: list[str]) -> list[str]:
    """Those of the keys whose stored value is not what was sent. n8n may add to it, but must not remove from it."""
    return [key for key in keys if not _matches(key, stored.get(key), sent.get(key))]


def _matches(key: str, stored: Any, sent: Any) -> bool:  # noqa: ANN401
    if key == "nodes":
        return len(stored or []) == len(sent or []) and all(map(_includes, stored or [], sent or []))
    if key == "settings":
        reset = {name for name, value in RESET_VALUES.items() if (sent or {}).get(name) == value}
        return _includes(stored or {}, {name: value for name, value in (sent or {}).items() if name not in reset})
    return bool((stored or None) == (sent or None))


def _includes(stored: Json, sent: Json) -> bool:
    return all(name in stored and stored[name] == value for name, value in sent.items())
