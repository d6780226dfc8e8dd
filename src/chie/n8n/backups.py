"""Backups of workflows from before each change: one JSON file each, which n8n can import."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chie.errors import StorageError
from chie.files import make_folder, replacing
from chie.n8n.errors import NotFoundError, ValidationError, ValidationErrorContext
from chie.n8n.models import Json, Workflow

logger = logging.getLogger(__name__)

_NAME = re.compile(r"(?P<id>[A-Za-z0-9_-]{1,64})/(?P<time>\d{8}T\d{12}Z)-(?P<reason>[a-z]+)\.json", re.ASCII)
_STAMP = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True)
class Backup:
    """`backup` is the name that restore_workflow takes."""

    backup: str
    id: str
    name: str
    reason: str
    time: str
    nodes: int

    def as_json(self) -> Json:
        return asdict(self)


class Backups:
    def __init__(
        self, folder: Path, *, keep: int = 100, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.folder = folder
        self._keep = keep
        self._clock = clock

    def write(self, workflow: Workflow, reason: str) -> str:
        """The name of the new backup. Callers change n8n only after this has succeeded."""
        moment = self._clock()
        if not _NAME.fullmatch(_name(workflow["id"], moment, reason)):  # the id becomes part of a path
            raise StorageError("n8n.workflow_id_invalid")
        try:
            name = _name(workflow["id"], max(moment, self._earliest_time(workflow["id"])), reason)
            file = self.folder / name
            make_folder(file.parent)
            _write_atomically(file, json.dumps(workflow, ensure_ascii=False, indent=1))
            self._delete_old(file.parent)
        except OSError as error:
            name = type(error).__name__
            raise StorageError("n8n.backup_not_written", folder=str(self.folder), error=name) from error
        return name

    def list(self, workflow_id: str | None = None, *, after: str | None = None) -> Iterator[Backup]:
        """Newest first; with `after`, only those older than that one. Unreadable backups are skipped."""
        names = sorted(self._names(workflow_id), key=_moment, reverse=True)
        for name in names:
            if after is None or _moment(name) < _moment(after):
                try:
                    yield self._described(name)
                except NotFoundError:  # deleted in the meantime
                    continue
                except StorageError as error:
                    logger.warning("skipping backup %s: %s: %s", name, error.code, error.message)

    def _described(self, name: str) -> Backup:
        workflow, (folder, rest) = self.read(name), name.split("/")
        return Backup(
            backup=name,
            id=folder,
            name=str(workflow.get("name")),
            reason=rest.removesuffix(".json").split("-")[1],
            time=_time(name).isoformat(timespec="seconds"),
            nodes=len(workflow.get("nodes") or []),
        )

    def read(self, name: str) -> Workflow:
        if not _NAME.fullmatch(name):
            raise ValidationError("n8n.backup_name_invalid", ValidationErrorContext(field="backup"))
        try:
            workflow: Workflow = _workflow((self.folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError("n8n.backup_not_found") from error
        except (OSError, ValueError) as error:
            raise StorageError("n8n.backup_unreadable", error=type(error).__name__) from error
        return workflow

    def _names(self, workflow_id: str | None) -> Iterator[str]:
        pattern = f"{workflow_id}/*.json" if workflow_id else "*/*.json"
        for file in self.folder.glob(pattern):
            name = f"{file.parent.name}/{file.name}"
            if _is_name(name):
                yield name

    def _earliest_time(self, workflow_id: str) -> datetime:
        """Just after the newest backup: if the clock was set back, a new backup must not sort as an old one."""
        newest = max(self._names(workflow_id), key=_moment, default=None)
        return _time(newest) + timedelta(microseconds=1) if newest else datetime.min.replace(tzinfo=UTC)

    def _delete_old(self, folder: Path) -> None:
        for name in sorted(self._names(folder.name))[: -self._keep]:
            (self.folder / name).unlink(missing_ok=True)


def _name(workflow_id: str, moment: datetime, reason: str) -> str:
    return f"{workflow_id}/{moment.strftime(_STAMP)}-{reason}.json"


def _is_name(name: str) -> bool:
    try:
        return bool(_NAME.fullmatch(name) and _time(name))
    except ValueError:  # matches the pattern, but is not a date
        return False


def backup_time(name: str) -> str | None:
    """When a backup was written, from its name; None for another name."""
    return _time(name).isoformat(timespec="seconds") if _NAME.fullmatch(name) else None


def _time(name: str) -> datetime:
    return datetime.strptime(_moment(name)[0].partition("-")[0], _STAMP).replace(tzinfo=UTC)


def _moment(name: str) -> tuple[str, str]:
    folder, _, file = name.partition("/")
    return file, folder


def _workflow(text: str) -> Workflow:
    found = json.loads(text)
    if not isinstance(found, dict) or "id" not in found:
        raise ValueError
    return found


def _write_atomically(file: Path, text: str) -> None:
    with replacing(file) as draft:
        draft.write_text(text, encoding="utf-8")
