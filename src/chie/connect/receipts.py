"""What we wrote into which file, and the copy of what was there before: so that it can be undone to the last byte."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chie.connect.file import ConfigFile
from chie.errors import ChieError
from chie.files import make_folder


@dataclass(frozen=True)
class Receipt:
    """`backup` is the file as it was before the first step; None where there was none."""

    backup: str | None
    steps: tuple[tuple[str, dict[str, Any]], ...] = ()

    def original(self) -> str | None:
        """What `backup` holds; None where it is gone, too."""
        return ConfigFile(Path(self.backup)).read() if self.backup else ""

    def with_step(self, name: str, entry: dict[str, Any]) -> "Receipt":
        return Receipt(self.backup, (*self.without(name).steps, (name, entry)))

    def without(self, name: str) -> "Receipt":
        return Receipt(self.backup, tuple(step for step in self.steps if step[0] != name))

    def names(self) -> set[str]:
        return {name for name, _ in self.steps}


class Receipts:
    """One small file in our home. Losing it costs nothing but exactness."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = ConfigFile(home / "connections.json")

    def get(self, path: Path) -> Receipt | None:
        found = self._all().get(str(path))
        return Receipt(found["backup"], tuple((name, entry) for name, entry in found["steps"])) if found else None

    def keep(self, path: Path, receipt: Receipt | None) -> None:
        """None, or one without steps, forgets it."""
        kept = {key: value for key, value in self._all().items() if key != str(path)}
        if receipt and receipt.steps:
            kept[str(path)] = asdict(receipt)
        with suppress(OSError):  # writing the file says what is wrong
            make_folder(self._home)
        self._file.write(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", seen=self._file.read())

    def _all(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read() or "{}")
        except (ValueError, ChieError):
            return {}
        return found if isinstance(found, dict) else {}
