"""Figures, and the file that stores them; the documentation is generated from it."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Figure:
    """`value` is None if it could not be measured, with the reason in `why`.

    An aim is an upper limit, or a lower limit for a share of 1.
    """

    what: str
    who: str
    value: float | None
    unit: str = ""
    aim: float | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.why:
            raise ValueError(f"{self.who} has no value for {self.what}, and no reason")


def machine() -> str:
    """Includes the load: on a busy machine only CPU times and ratios are reliable."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"


@dataclass(frozen=True)
class Group:
    """The figures of one script, taken in one run."""

    about: str
    figures: Sequence[Figure]
    when: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M"))
    machine: str = field(default_factory=machine)


def read(path: Path = RESULTS) -> dict[str, Group]:
    stored: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {
        name: Group(**{**group, "figures": [Figure(**figure) for figure in group["figures"]]})
        for name, group in stored.items()
    }


def keep(name: str, group: Group, path: Path = RESULTS) -> None:
    """Stores one group and leaves the others unchanged."""
    groups = {**read(path), name: group}
    text = json.dumps({name: asdict(groups[name]) for name in sorted(groups)}, ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", "utf-8")
