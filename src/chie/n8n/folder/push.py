"""Writes the workflows of a folder to n8n: each through the same safe saving as the tools."""

from dataclasses import dataclass

from chie.errors import ChieError
from chie.n8n.folder.comparison import Entry, is_of_another_n8n
from chie.n8n.folder.file_format import content_of, with_bindings, with_ids
from chie.n8n.folder.folder import WorkflowFile, WorkflowFolder
from chie.n8n.merge import Change, exact_settings
from chie.n8n.models import WRITABLE, Json, Node, Workflow, tag_names
from chie.n8n.saving import Report, WorkflowSaver


@dataclass(frozen=True)
class Pushed:
    entry: Entry
    report: Report | None = None
    error: ChieError | None = None


class Pusher:
    def __init__(self, saver: WorkflowSaver, folder: WorkflowFolder) -> None:
        self._saver = saver
        self._folder = folder

    async def push(self, entry: Entry) -> Pushed:
        """Errors are part of the result: one workflow that n8n rejects does not keep the others back."""
        try:
            return Pushed(entry, await self._save(entry))
        except ChieError as error:
            return Pushed(entry, error=error)

    async def _save(self, entry: Entry) -> Report:
        file = entry.file
        assert file is not None  # noqa: S101 - only entries with a file are pushed
        if entry.workflow is None:
            return await self._create(file)
        foreign = is_of_another_n8n(file, entry.workflow)
        return await self._saver.change(
            str(entry.workflow["id"]),
            lambda now: _change(now, file.workflow, foreign=foreign),
            reason="push",
            version_id=entry.workflow.get("versionId"),
        )

    async def _create(self, file: WorkflowFile) -> Report:
        """The ids that n8n gave are written into a file that has none; those of another n8n stay."""
        report = await self._saver.create(_fields(file.workflow), active=None, tag_list=tag_names(file.workflow))
        if file.id is None:
            self._folder.write(content_of(report.workflow), file.path)
        return report


def _change(now: Workflow, file: Workflow, *, foreign: bool) -> Change:
    """Exactly the file, also where it has less than n8n: n8n keeps what is omitted."""
    content = with_ids(with_bindings(content_of(file), now) if foreign else file, now)
    fields = _fields({**file, "nodes": content["nodes"]})
    fields["nodes"] = _in_order(now.get("nodes") or [], fields["nodes"])
    fields["settings"] = exact_settings(now, file.get("settings") or {})
    for key, empty in (("description", ""), ("nodeGroups", [])):
        if now.get(key) and key not in fields:
            fields[key] = empty
    return Change(fields, tags=tag_names(file), keep="nothing")


def _fields(file: Workflow) -> Json:
    return {key: file[key] for key in WRITABLE if file.get(key) is not None}


def _in_order(stored: list[Node], given: list[Node]) -> list[Node]:
    """As n8n has them, and new ones last: the order in a file says nothing."""
    order = {str(node.get("name")): index for index, node in enumerate(stored)}
    return sorted(given, key=lambda node: order.get(str(node.get("name")), len(order)))
