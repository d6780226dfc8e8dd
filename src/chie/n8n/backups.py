"""Workflows as they were before we changed them: one JSON file each, which n8n can import, too."""

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
        moment = self._clock()
        if not _NAME.fullmatch(_name(workflow["id"], moment, reason)):  # the id is n8n's word, and a path is made of it
            raise StorageError(
                "n8n gave the workflow an id that is none, so it cannot be backed up and nothing was changed."
            )
        try:
            name = _name(workflow["id"], max(moment, self._free_from(workflow["id"])), reason)
            file = self.folder / name
            make_folder(file.parent)
            _put(file, json.dumps(workflow, ensure_ascii=False, indent=1))
            self._forget_old(file.parent)
        except OSError as error:
            raise StorageError(
                f"cannot write a backup under {self.folder} ({type(error).__name__}), so nothing was changed. "
                "Make the folder writable, or set N8N_BACKUP_DIR."
            ) from error
        return name

    def list(self, workflow_id: str | None = None, *, after: str | None = None) -> Iterator[Backup]:
        """Newest first; with `after`, only those that are older than that one. One that is broken hides no other."""
        names = sorted(self._names(workflow_id), key=_moment, reverse=True)
        for name in names:
            if after is None or _moment(name) < _moment(after):
                try:
                    yield self._described(name)
                except NotFoundError:  # it made room for a newer one meanwhile
                    continue
                except StorageError as error:
                    logger.warning("the backup %s is left out of the list: %s", name, error.message)

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
            raise ValidationError(
                "backup must be a name that list_backups shows.", ValidationErrorContext(field="backup")
            )
        try:
            workflow: Workflow = _workflow((self.folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError("There is no such backup. list_backups shows those that exist.") from error
        except (OSError, ValueError) as error:
            raise StorageError(f"cannot read that backup ({type(error).__name__}). Choose another one.") from error
        return workflow

    def _names(self, workflow_id: str | None) -> Iterator[str]:
        pattern = f"{workflow_id}/*.json" if workflow_id else "*/*.json"
        for file in self.folder.glob(pattern):
            name = f"{file.parent.name}/{file.name}"
            if _is_name(name):
                yield name

    def _free_from(self, workflow_id: str) -> datetime:
        """Just after the newest: if the clock has gone back, the next one must not be taken for the oldest."""
        newest = max(self._names(workflow_id), key=_moment, default=None)
        return _time(newest) + timedelta(microseconds=1) if newest else datetime.min.replace(tzinfo=UTC)

    def _forget_old(self, folder: Path) -> None:
        for name in sorted(self._names(folder.name))[: -self._keep]:
            (self.folder / name).unlink(missing_ok=True)


def _name(workflow_id: str, moment: datetime, reason: str) -> str:
    return f"{workflow_id}/{moment.strftime(_STAMP)}-{reason}.json"


def _is_name(name: str) -> bool:
    try:
        return bool(_NAME.fullmatch(name) and _time(name))
    except ValueError:  # digits in the right places, but no date
        return False


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


def _put(file: Path, text: str) -> None:
    """Whole or not at all: neither a full disk nor a kill leaves half of it under the name of a backup."""
    with replacing(file) as draft:
        draft.write_text(text, encoding="utf-8")
