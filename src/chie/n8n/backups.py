"""Workflows as they were before we changed them: one JSON file each, which n8n can import, too."""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from chie.errors import StorageError
from chie.n8n.errors import NotFoundError, ValidationError, ValidationErrorContext
from chie.n8n.models import Json, Workflow
from chie.private import make_folder

_NAME = re.compile(r"(?P<id>[A-Za-z0-9_-]{1,64})/(?P<time>\d{8}T\d{12}Z)-(?P<reason>[a-z]+)\.json")


@dataclass(frozen=True)
class Backup:
    """`backup` names it for restore_workflow."""

    backup: str
    id: str
    name: str
    reason: str
    time: str
    nodes: int

    def shown(self) -> Json:
        return asdict(self)


class Backups:
    def __init__(
        self, folder: Path, *, keep: int = 100, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.folder = folder
        self._keep = keep
        self._clock = clock

    def write(self, workflow: Workflow, reason: str) -> str:
        """The new backup's name. Nothing is changed in n8n before this has succeeded."""
        stamp = self._clock().strftime("%Y%m%dT%H%M%S%fZ")
        name = f"{workflow['id']}/{stamp}-{reason}.json"
        if not _NAME.fullmatch(name):  # the id is n8n's word, and a path is made of it
            raise StorageError(
                "n8n gave the workflow an id that is none, so it cannot be backed up and nothing was changed."
            )
        file = self.folder / name
        try:
            make_folder(file.parent)
            text = json.dumps(workflow, ensure_ascii=False, indent=1)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            self._forget_old(file.parent)
        except OSError as error:
            raise StorageError(
                f"cannot write a backup under {self.folder} ({type(error).__name__}), so nothing was changed. "
                "Make the folder writable, or set N8N_BACKUP_DIR."
            ) from error
        return name

    def list(self, workflow_id: str | None = None, *, after: str | None = None) -> Iterator[Backup]:
        """Newest first; with `after`, only those that are older than that one."""
        names = sorted(self._names(workflow_id), key=_moment, reverse=True)
        for name in names:
            if after is None or _moment(name) < _moment(after):
                yield self._described(name)

    def _described(self, name: str) -> Backup:
        workflow, (folder, rest) = self.read(name), name.split("/")
        stamp, reason = rest.removesuffix(".json").split("-")
        time = datetime.strptime(stamp, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
        return Backup(
            backup=name,
            id=folder,
            name=str(workflow.get("name")),
            reason=reason,
            time=time.isoformat(timespec="seconds"),
            nodes=len(workflow.get("nodes") or []),
        )

    def read(self, name: str) -> Workflow:
        if not _NAME.fullmatch(name):
            raise ValidationError(
                "backup must be a name that list_backups shows.", ValidationErrorContext(field="backup")
            )
        try:
            workflow: Workflow = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError("There is no such backup. list_backups shows those that exist.") from error
        except (OSError, ValueError) as error:
            raise StorageError(f"cannot read that backup ({type(error).__name__}). Choose another one.") from error
        return workflow

    def _names(self, workflow_id: str | None) -> Iterator[str]:
        pattern = f"{workflow_id}/*.json" if workflow_id else "*/*.json"
        for file in self.folder.glob(pattern):
            name = f"{file.parent.name}/{file.name}"
            if _NAME.fullmatch(name):
                yield name

    def _forget_old(self, folder: Path) -> None:
        for file in sorted(folder.glob("*.json"))[: -self._keep]:
            file.unlink(missing_ok=True)


def _moment(name: str) -> tuple[str, str]:
    folder, _, file = name.partition("/")
    return file, folder
