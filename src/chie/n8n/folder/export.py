"""Writes workflows of n8n as files. A file keeps its name when its workflow is renamed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chie.n8n.folder.comparison import is_of_another_n8n, match
from chie.n8n.folder.file_format import content_of, with_bindings
from chie.n8n.folder.folder import WorkflowFile, WorkflowFolder
from chie.n8n.models import Json, Workflow


@dataclass
class Exported:
    """The names of files. `orphaned` belong to workflows that n8n does not have."""

    written: list[str] = field(default_factory=list)
    unchanged: int = 0
    orphaned: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


def export(folder: WorkflowFolder, workflows: Sequence[Workflow], *, prune: bool, whole: bool) -> Exported:
    """`whole` means that these are all workflows of n8n. Files are deleted only after all others are written."""
    folder.delete_drafts()
    files = folder.read() if folder.path.is_dir() else []
    result = Exported()
    pairs = list(match(files, workflows))
    found = {str(workflow["id"]): file for file, workflow in pairs if workflow}
    for workflow in workflows:
        file = found.get(str(workflow["id"]))
        path = folder.write(_content(workflow, file), file.path if file else None)
        result.unchanged += path is None
        result.written += [path.name] if path else []
    orphans = [file.path for file, workflow in pairs if workflow is None] if whole else []
    for path in orphans:
        if prune:
            folder.delete(path)
        (result.deleted if prune else result.orphaned).append(path.name)
    return result


def _content(workflow: Workflow, file: WorkflowFile | None) -> Json:
    """A file of another n8n keeps the ids of that one."""
    content = content_of(workflow)
    if file is None or not is_of_another_n8n(file, workflow):
        return content
    return {**with_bindings(content, file.workflow), "id": file.id}
