"""One run of mutmut over a copy of the repository."""

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
FOLDER = ROOT / ".venv" / "mutants"

# mypy runs first: a mutant that it rejects needs no test. It has its own settings, because ours also check comments,
# and mutmut's comments are not ours.
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

# mutmut's exit codes; any other means that a test failed or timed out.
FATES: dict[int | None, Fate] = {0: "survived", 5: "not reached", 33: "not reached", None: "not tried", 37: "type"}

IGNORED = shutil.ignore_patterns("node_modules", "__pycache__", "static", "real", "e2e")


def run(name: str, suite: Suite, *, again: bool) -> list[Mutant]:
    """All mutants of the suite's modules; `again` tries only the survivors of the last run."""
    folder = FOLDER / name
    keys: list[str] = []
    if again and _is_current(folder, suite):
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=IGNORED, dirs_exist_ok=True)
        keys = [key for module in suite.modules for key, code in _codes(folder, module) if code in FATES and code != 37]
    else:
        _copy(folder, suite)
    if keys or not again:
        _mutmut(folder, keys)
    return [mutant for module in suite.modules for mutant in _mutants(folder, module)]


def _is_current(folder: Path, suite: Suite) -> bool:
    """Whether the copy has the current modules, and they were tried."""
    meta = [folder / "mutants" / "src" / "chie" / f"{module}.meta" for module in suite.modules]
    return all(path.exists() for path in meta) and all(
        (folder / "src" / "chie" / module).read_bytes() == (ROOT / "src" / "chie" / module).read_bytes()
        for module in suite.modules
    )


def _copy(folder: Path, suite: Suite) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=IGNORED)
    shutil.copy(ROOT / "pyproject.toml", folder)
    modules = "\n".join(f"  src/chie/{module}" for module in suite.modules)
    tests = "\n".join(f"  tests/{test}" for test in suite.tests)
    (folder / "setup.cfg").write_text(SETUP.format(python=sys.executable, modules=modules, tests=tests))


def _mutmut(folder: Path, keys: list[str]) -> None:
    """Writes to a file, because its spinner would flood a terminal."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(os.cpu_count() or 2), *keys]
    with (folder / "log.txt").open("w") as log:
        code = subprocess.run(
            command, cwd=folder, env={**os.environ, "MYPYPATH": "src"}, stdout=log, stderr=log, check=False
        ).returncode
    if code:
        sys.exit(f"mutmut failed; see {folder / 'log.txt'}.")


def _codes(folder: Path, module: str) -> list[tuple[str, int | None]]:
    meta = json.loads((folder / "mutants" / "src" / "chie" / f"{module}.meta").read_text())
    return list(meta["exit_code_by_key"].items())


def _mutants(folder: Path, module: str) -> Iterator[Mutant]:
    for key, code in _codes(folder, module):
        with contextlib.chdir(folder):
            lines = get_diff_for_mutant(key, path=f"src/chie/{module}").splitlines()[2:]
        function, owner = orig_function_and_class_names_from_key(key)
        yield Mutant(
            place=f"{module} {f'{owner}.' if owner else ''}{function}",
            before=" ".join(line[1:].strip() for line in lines if line.startswith("-")),
            after=" ".join(line[1:].strip() for line in lines if line.startswith("+")),
            fate=FATES.get(code, "test"),
        )
