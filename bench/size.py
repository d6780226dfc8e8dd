"""Size of an installation: the wheel, and the base install in an environment without pip or build tools.

Limits: 45 MB for the wheel, 350 MB for the base install. The install is the result of `pip install`, byte code
included, by the sum of its files' sizes and by the blocks that they take on this machine's disk.
"""

import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from release.build import WHEEL_LIMIT_MB, make_wheel

from bench.figure import Figure

INSTALL_LIMIT_MB = 350
LARGEST = 10
MB = 1_000_000


def install(wheel: Path, folder: Path) -> Path:
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True, stderr=subprocess.DEVNULL)
    [packages] = folder.glob("lib/python*/site-packages")
    return packages


def files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file, file.stat()


def weigh(packages: Path) -> tuple[Counter[str], int, int]:
    """Bytes by package, then the share of byte code, then the blocks on this machine's disk."""
    weights: Counter[str] = Counter()
    compiled = blocks = 0
    for file, state in files(packages):
        weights[file.relative_to(packages).parts[0]] += state.st_size
        compiled += state.st_size if file.suffix == ".pyc" else 0
        blocks += state.st_blocks * 512
    return weights, compiled, blocks


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        wheel = make_wheel(Path(folder))
        weight = wheel.stat().st_size / MB
        weights, compiled, blocks = weigh(install(wheel, Path(folder) / "env"))
    total = weights.total() / MB
    largest = ", ".join(f"{name} {size / MB:.0f}" for name, size in weights.most_common(LARGEST))
    print(f"The largest, MB: {largest}\n")
    return [
        Figure("wheel", "Chie", weight, "MB", aim=WHEEL_LIMIT_MB),
        Figure("base install, all files", "Chie", total, "MB", aim=INSTALL_LIMIT_MB),
        Figure("of which byte code, which uv does not write", "Chie", compiled / MB, "MB"),
        Figure("base install, in blocks of this disk", "Chie", blocks / MB, "MB", aim=INSTALL_LIMIT_MB),
    ]


if __name__ == "__main__":
    main()
