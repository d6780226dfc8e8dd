"""Builds the wheels, the sdist and the bundle for Claude Desktop; the page must be built already."""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from hatchling.build import build_sdist, build_wheel

from release.bundle import pack

ROOT = Path(__file__).parents[1]
PLUG_IN = ROOT / "packages" / "chie-agent-adk"
PAGE = ROOT / "src" / "chie" / "static" / "index.html"
WHEEL_LIMIT_MB = 45


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path
    bundle: Path
    plug_in: Path

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.wheel, self.sdist, self.bundle, self.plug_in)


def build(folder: Path) -> Built:
    if not PAGE.is_file():
        raise SystemExit("The page is not built. Run `make page`, then try again.")
    folder.mkdir(parents=True, exist_ok=True)
    wheel = make_wheel(folder)
    return Built(wheel, make_sdist(folder), pack(wheel, folder), make_wheel(folder, PLUG_IN))


def make_wheel(folder: Path, project: Path = ROOT) -> Path:
    with _inside(project), redirect_stdout(io.StringIO()):
        return folder / build_wheel(str(folder))


def make_sdist(folder: Path) -> Path:
    with _inside(ROOT), redirect_stdout(io.StringIO()):
        return folder / build_sdist(str(folder))


def write_sums(built: Built) -> Path:
    """Writes the file for `sha256sum --check`."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in built.files]
    sums = built.wheel.parent / "SHA256SUMS"
    sums.write_text("".join(lines), encoding="utf-8")
    return sums


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Changes the working directory, from which build back ends read the project."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
