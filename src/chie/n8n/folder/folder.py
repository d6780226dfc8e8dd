"""The folder of workflow files. A file belongs to the workflow whose id it has, whatever its name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chie.errors import ChieError, StorageError, ValidationError
from chie.files import replacing
from chie.messages.catalogue import Message
from chie.n8n.folder.file_format import file_name, text_of
from chie.n8n.models import Json, Workflow, tag_names
from chie.n8n.validation import reject_truncated
from chie.n8n.workflow_files import AllowedFolders

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.part", re.ASCII)  # of `replacing`, left by a process that was killed


@dataclass(frozen=True)
class WorkflowFile:
    """`workflow` has tags as n8n's objects, as `content_of` takes them."""

    path: Path
    workflow: Workflow

    @property
    def id(self) -> str | None:
        return self.workflow.get("id")


class WorkflowFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[WorkflowFile]:
        """Every file, sorted by name. Raises once, with all the files that are not valid."""
        found, problems = [], []
        for path in self._paths():
            try:
                found.append(WorkflowFile(path, self._workflow(path)))
            except ChieError as error:
                problems.append(Message("n8n.workflow_file_invalid", file=path.name, reason=error.reason))
        problems += _duplicates(found)
        if problems:
            raise ValidationError("n8n.workflow_files_invalid", problems=problems)
        return found

    def write(self, content: Json, path: Path | None) -> Path | None:
        """The file, or None if it had this content already. A new one gets a name that no other file has."""
        path = path or self._new_path(content)
        text = text_of(content)
        try:
            if path.is_file() and path.read_bytes() == text.encode():
                return None
            self.path.mkdir(parents=True, exist_ok=True)
            with replacing(path, private=False) as draft:
                draft.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise _not_written(path, error) from error
        return path

    def delete(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _not_written(path, error) from error

    def delete_drafts(self) -> None:
        for path in self.path.glob(".*.part"):
            if _DRAFT.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def _paths(self) -> Iterator[Path]:
        if not self.path.is_dir():
            raise ValidationError("n8n.workflow_folder_missing", folder=str(self.path))
        for path in sorted(self.path.glob("*.json")):
            if not path.name.startswith(".") and path.name != "package.json":
                yield path

    def _workflow(self, path: Path) -> Workflow:
        content = AllowedFolders([self.path]).read_blocking(str(path))
        reject_truncated(content)
        if content.get("id") is not None and not _ID.fullmatch(str(content["id"])):
            raise ValidationError("n8n.workflow_file_id_invalid")
        tags = content.get("tags") or []
        names = tag_names(content) if any(isinstance(tag, dict) for tag in tags) else tags
        return {**content, "tags": [{"name": str(name)} for name in names]}

    def _new_path(self, content: Json) -> Path:
        """Some systems do not distinguish upper and lower case, and ids of n8n do."""
        if not _ID.fullmatch(str(content["id"])):
            raise StorageError("n8n.workflow_id_invalid")
        taken = {path.name.casefold() for path in self.path.glob("*.json")}
        name = file_name(content)
        while name.casefold() in taken:
            name = f"{name.removesuffix('.json')}-2.json"
        return self.path / name


def _duplicates(found: list[WorkflowFile]) -> Iterator[Message]:
    first: dict[str, WorkflowFile] = {}
    for file in found:
        other = first.setdefault(str(file.id), file) if file.id else file
        if other is not file:
            yield Message("n8n.workflow_file_repeated", file=file.path.name, other=other.path.name)


def _not_written(path: Path, error: OSError) -> StorageError:
    return StorageError("n8n.workflow_file_not_written", file=str(path), reason=error.strerror or type(error).__name__)
