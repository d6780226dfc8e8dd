"""Compares a folder with n8n: which workflows differ, and what a push would change."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from chie.n8n.backup_diff import Difference, compare
from chie.n8n.folder.file_format import content_of, with_bindings, with_ids
from chie.n8n.folder.folder import WorkflowFile
from chie.n8n.models import Json, Workflow

State = Literal["same", "changed", "only_in_folder", "only_in_n8n"]
MAX_PATHS = 8
OTHERS = ("description", "nodeGroups")


@dataclass(frozen=True)
class Entry:
    """A workflow on either side. `paths` are the parameters that differ, by node."""

    state: State
    file: WorkflowFile | None
    workflow: Workflow | None
    difference: Difference = field(default_factory=Difference)
    paths: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        found = self.file.workflow if self.file else self.workflow
        return str((found or {}).get("name"))

    def as_json(self) -> Json:
        found = {key: value for key, value in asdict(self.difference).items() if value}
        return {
            "state": self.state,
            "name": self.name,
            "file": self.file.path.name if self.file else None,
            "id": str(self.workflow["id"]) if self.workflow else None,
            "difference": found,
            "paths": self.paths,
        }


def compare_folder(files: Sequence[WorkflowFile], workflows: Sequence[Workflow]) -> list[Entry]:
    """Files in order, then the workflows that have none."""
    pairs = list(match(files, workflows))
    used = {str(workflow["id"]) for _, workflow in pairs if workflow}
    entries = [_entry(file, workflow) for file, workflow in pairs]
    rest = sorted((one for one in workflows if str(one["id"]) not in used), key=lambda one: str(one["name"]))
    return entries + [Entry("only_in_n8n", None, workflow) for workflow in rest]


def match(
    files: Sequence[WorkflowFile], workflows: Sequence[Workflow]
) -> Iterator[tuple[WorkflowFile, Workflow | None]]:
    """By id; else by a name that is unique, because another n8n gives the same workflow another id."""
    by_id = {str(workflow["id"]): workflow for workflow in workflows}
    claimed = {file.id for file in files if file.id in by_id}
    by_name: dict[str, list[Workflow]] = {}
    for workflow in workflows:
        if str(workflow["id"]) not in claimed:
            by_name.setdefault(str(workflow["name"]), []).append(workflow)
    for file in files:
        named = by_name.get(str(file.workflow["name"]), []) if file.id not in by_id else []
        yield file, by_id.get(str(file.id)) or (named[0] if len(named) == 1 else None)


def is_of_another_n8n(file: WorkflowFile, workflow: Workflow) -> bool:
    """Then the credentials of the file have the ids of that n8n."""
    return file.id is not None and file.id != str(workflow["id"])


def _entry(file: WorkflowFile, workflow: Workflow | None) -> Entry:
    if workflow is None:
        return Entry("only_in_folder", file, None)
    there = content_of({**workflow, "id": None})
    here = with_ids(content_of({**file.workflow, "id": None}), there)
    if is_of_another_n8n(file, workflow):
        here = with_bindings(here, there)
    if here == there:
        return Entry("same", file, workflow)
    difference = compare(_with_tags(there, workflow), _with_tags(here, file.workflow))
    others = [key for key in OTHERS if here.get(key) != there.get(key)]
    difference = replace(difference, others=list(dict.fromkeys([*difference.others, *others])))
    return Entry("changed", file, workflow, difference, dict(changed_paths(there, here, difference)))


def _with_tags(content: Json, workflow: Workflow) -> Workflow:
    return {**content, "tags": workflow.get("tags") or []}


def changed_paths(there: Json, here: Json, difference: Difference) -> Iterator[tuple[str, list[str]]]:
    before = {node["name"]: node for node in there["nodes"]}
    after = {node["name"]: node for node in here["nodes"]}
    for name in difference.changed:
        paths = list(dict.fromkeys(_paths(before[name], after[name])))
        yield name, paths[:MAX_PATHS] + (["…"] if len(paths) > MAX_PATHS else [])


def _paths(one: Any, other: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401
    """The paths of the values that differ, as `setField` takes them."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _paths(one.get(key), other.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _paths(first, second, f"{path}[{index}]")
    elif one != other:
        yield path
