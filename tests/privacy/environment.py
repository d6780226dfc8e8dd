"""The environment of a user who has set nothing, in folders of a test."""

import os
from pathlib import Path


def bare_environment(folder: Path) -> dict[str, str]:
    """`user` is the user's own folder, `home` is Chie's. Without variables such as `CI`, which silence telemetry."""
    for name in ("user", "temporary"):
        (folder / name).mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "user"),
        "TMPDIR": str(folder / "temporary"),
        "CHIE_HOME": str(folder / "home"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
    }
