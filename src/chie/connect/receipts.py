"""A record of the entries written to each file and of the backup before them, so that an edit can be undone exactly."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chie.connect.config_file import ConfigFile
from chie.errors import ChieError
from chie.files import make_folder


@dataclass(frozen=True)
class Receipt:
    """`backup` is the path of a copy from before the first step; None if there was no file."""

    backup: str | None
    steps: tuple[tuple[str, dict[str, Any]], ...] = ()

    def original(self) -> str | None:
        """The content of the backup: empty if there was no file, None if the backup is gone."""
        return ConfigFile(Path(self.backup)).read() if self.backup else ""

    def with_step(self, name: str, entry: dict[str, Any]) -> "Receipt":
        return Receipt(self.backup, (*self.without(name).steps, (name, entry)))

    def without(self, name: str) -> "Receipt":
        return Receipt(self.backup, tuple(step for step in self.steps if step[0] != name))

    def names(self) -> set[str]:
        return {name for name, _ in self.steps}


class Receipts:
    """Kept in `connections.json` in `CHIE_HOME`. Without it a removal still works, but is not byte for byte."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = ConfigFile(home / "connections.json")

    def get(self, path: Path) -> Receipt | None:
        found = self._all().get(str(path))
        return Receipt(found["backup"], tuple((name, entry) for name, entry in found["steps"])) if found else None

    def keep(self, path: Path, receipt: Receipt | None) -> None:
        """None, or a receipt without steps, deletes the record."""
        kept = {key: value for key, value in self._all().items() if key != str(path)}
        if receipt and receipt.steps:
            kept[str(path)] = asdict(receipt)
        with suppress(OSError):  # writing the file reports the reason
            make_folder(self._home)
        self._file.write(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", seen=self._file.read())

    def _all(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read() or "{}")
        except (ValueError, RecursionError, ChieError):
            return {}
        return found if isinstance(found, dict) else {}
