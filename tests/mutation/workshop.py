"""One run of mutmut over a copy of the house, so that nothing of it touches the real one."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant  # type: ignore[import-not-found, unused-ignore]
from mutmut.utils.format_utils import (  # type: ignore[import-not-found, unused-ignore]
    orig_function_and_class_names_from_key,
)
from tests.mutation.mutant import Fate, Mutant
from tests.mutation.suites import Suite

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv" / "mutants"

# mypy goes first: a mutant that `make check` refuses needs no test. Its own settings, as ours also judge comments,
# and mutmut's are not ours.
SETUP = """[mutmut]
source_paths = src
only_mutate =
{modules}
pytest_add_cli_args_test_selection =
{tests}
pytest_add_cli_args =
  -n0
  -ptests.mutation.nodeid
  -pno:cacheprovider
  --timeout=30
  -k
  not legacy and not postgres
process_isolation = forkserver
timeout_multiplier = 6.0
timeout_constant = 5.0
use_git_change_detection = false
type_check_command =
  {python}
  -m
  mypy
  --output=json
  --follow-imports=silent
  --config-file=
  --strict
  --explicit-package-bases
  --ignore-missing-imports
  --no-warn-unused-ignores
  --disable-error-code=no-redef
{modules}
"""

# mutmut's codes; any other means that a test failed or never ended.
FATES: dict[int | None, Fate] = {0: "survived", 5: "not reached", 33: "not reached", None: "not tried", 37: "type"}

UNWANTED = shutil.ignore_patterns("node_modules", "__pycache__", "static", "real", "e2e")


def run(name: str, suite: Suite, *, again: bool) -> list[Mutant]:
    """All mutants of the suite's modules; `again` tries only those that nobody noticed the last time."""
    place = PLACE / name
    keys: list[str] = []
    if again and _is_current(place, suite):
        shutil.copytree(ROOT / "tests", place / "tests", ignore=UNWANTED, dirs_exist_ok=True)
        keys = [key for module in suite.modules for key, code in _codes(place, module) if code in FATES and code != 37]
    else:
        _copy(place, suite)
    if keys or not again:
        _mutmut(place, keys)
    return [mutant for module in suite.modules for mutant in _mutants(place, module)]


def _is_current(place: Path, suite: Suite) -> bool:
    """Whether the copy's modules are those of the house, and were tried."""
    meta = [place / "mutants" / "src" / "chie" / f"{module}.meta" for module in suite.modules]
    return all(path.exists() for path in meta) and all(
        (place / "src" / "chie" / module).read_bytes() == (ROOT / "src" / "chie" / module).read_bytes()
        for module in suite.modules
    )


def _copy(place: Path, suite: Suite) -> None:
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, place / folder, ignore=UNWANTED)
    shutil.copy(ROOT / "pyproject.toml", place)
    modules = "\n".join(f"  src/chie/{module}" for module in suite.modules)
    tests = "\n".join(f"  tests/{test}" for test in suite.tests)
    (place / "setup.cfg").write_text(SETUP.format(python=sys.executable, modules=modules, tests=tests))


def _mutmut(place: Path, keys: list[str]) -> None:
    """Its spinner would flood a terminal, so it writes into a file."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(os.cpu_count() or 2), *keys]
    with (place / "log.txt").open("w") as log:
        code = subprocess.run(
            command, cwd=place, env={**os.environ, "MYPYPATH": "src"}, stdout=log, stderr=log, check=False
        ).returncode
    if code:
        sys.exit(f"mutmut gave up; {place / 'log.txt'} says why.")


def _codes(place: Path, module: str) -> list[tuple[str, int | None]]:
    meta = json.loads((place / "mutants" / "src" / "chie" / f"{module}.meta").read_text())
    return list(meta["exit_code_by_key"].items())


def _mutants(place: Path, module: str) -> Iterator[Mutant]:
    for key, code in _codes(place, module):
        with contextlib.chdir(place):
            lines = get_diff_for_mutant(key, path=f"src/chie/{module}").splitlines()[2:]
        function, owner = orig_function_and_class_names_from_key(key)
        yield Mutant(
            place=f"{module} {f'{owner}.' if owner else ''}{function}",
            before=" ".join(line[1:].strip() for line in lines if line.startswith("-")),
            after=" ".join(line[1:].strip() for line in lines if line.startswith("+")),
            fate=FATES.get(code, "test"),
        )
