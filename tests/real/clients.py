"""Programs from the npm registry, as `make real` installs them beside this file."""

import os
import subprocess
from pathlib import Path

BIN = Path(__file__).parent / "node_modules" / ".bin"


def run(
    program: str, *arguments: str, home: Path, folder: Path | None = None, check: bool = True, seconds: float = 120
) -> str:
    """What it printed. Its home is empty, so nothing of the developer's own is read or written."""
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [BIN / program, *arguments],
        env={**os.environ, "HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"},
        cwd=folder or home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout
    return done.stdout
