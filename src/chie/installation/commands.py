"""Shell commands that change this installation of Chie, for advice that works where it is given."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chie.installation.environment import Kind, find_kind, find_origin, installed_extras, uv_receipt

PLUG_IN = "chie-agent-adk"
BUILD_IMAGE = "docker build -f deploy/Dockerfile -t chie ."  # the image has every extra
NEW_WHEEL = "chie-NEW-py3-none-any.whl"

_PROGRAM = re.compile(r"(?:(?<=`)|(?<=&& )|^)chie(?= [a-z])")


@dataclass(frozen=True)
class Commands:
    """The first two install what is missing; `repair` installs this version again."""

    add_extra: Callable[[str], str]
    add_package: Callable[[str], str]
    upgrade: Callable[[], str]
    repair: Callable[[], str]


def install_extra(extra: str) -> str:
    """The command that adds one of Chie's extras, such as `bedrock`, and keeps the others."""
    return _COMMANDS[find_kind()].add_extra(extra)


def install_package(requirement: str) -> str:
    """The command that installs another package beside Chie."""
    return _COMMANDS[find_kind()].add_package(requirement)


def upgrade_chie() -> str:
    return _COMMANDS[find_kind()].upgrade()


def repair_chie() -> str:
    return _COMMANDS[find_kind()].repair()


def followable(text: str) -> str:
    """The text with `chie …` as it has to be typed here: in a clone, `.venv/bin/chie …`."""
    program = chie_program()
    return _PROGRAM.sub(lambda _: program, text)


def chie_program() -> str:
    """`chie` if that runs this Chie, else its path."""
    if find_kind() is Kind.UVX:
        return f"uvx --from {_quoted(find_origin().requirement(installed_extras()))} chie"
    own = Path(sys.executable).with_name("chie.exe" if os.name == "nt" else "chie")
    found = shutil.which("chie")
    if not own.exists() or (found and own.samefile(found)):
        return "chie"
    return _quoted(_shown(own))


def _clone_extra(extra: str) -> str:
    return f"{_pip_install()} -e {_quoted(f'{_shown(_clone())}[{extra}]')}"


def _clone_package(requirement: str) -> str:
    if requirement == PLUG_IN:
        return f"{_pip_install()} -e {_quoted(_shown(_clone() / 'packages' / PLUG_IN))}"
    return _pip_package(requirement)


def _clone_upgrade() -> str:
    folder = _shown(_clone())
    return "git pull && make run" if folder == "." else f"git -C {_quoted(folder)} pull && make -C {_quoted(folder)}"


def _clone_repair() -> str:
    return f"git -C {_quoted(_shown(_clone()))} checkout -- src"


def _pip_extra(extra: str) -> str:
    return _pip_package(f"chie[{extra}]")


def _pip_package(requirement: str) -> str:
    return f"{_pip_install()} {_quoted(requirement)}"


def _pip_upgrade() -> str:
    return f"{_pip_install()} --upgrade {NEW_WHEEL if find_origin().path else 'chie'}"


def _pip_repair() -> str:
    return f"{_pip_install()} --force-reinstall --no-deps {_quoted(find_origin().requirement(set()))}"


def _uv_tool_extra(extra: str) -> str:
    return _uv_tool({extra})


def _uv_tool_package(requirement: str) -> str:
    return _uv_tool(set(), requirement)


def _uv_tool(extras: set[str], *packages: str) -> str:
    """`uv tool install` replaces the earlier requirements, so they are all named again."""
    own = next((entry for entry in uv_receipt() if entry.get("name") == "chie"), {})
    others = [_named(entry) for entry in uv_receipt() if entry.get("name") != "chie"]
    requirement = find_origin().requirement(extras | set(own.get("extras", [])))
    if not find_origin().url:
        requirement = requirement.partition("==")[0]  # `uv tool upgrade` would stay at this version
    return " ".join(
        ["uv tool install", _quoted(requirement), *(f"--with {_quoted(name)}" for name in [*others, *packages])]
    )


def _named(entry: Mapping[str, Any]) -> str:
    """A requirement in the form of the command line."""
    extras = f"[{','.join(entry['extras'])}]" if entry.get("extras") else ""
    place = entry.get("path") or entry.get("directory") or entry.get("url") or entry.get("git")
    return f"{entry['name']}{extras}{f' @ {place}' if place else entry.get('specifier', '')}"


def _uv_tool_upgrade() -> str:
    return f"uv tool install {NEW_WHEEL}" if find_origin().path else "uv tool upgrade chie"


def _uvx(extras: set[str], *options: str) -> str:
    requirement = find_origin().requirement(extras | installed_extras())
    return " ".join(["uvx --from", _quoted(requirement), *options, "chie serve"])


def _pip_install() -> str:
    """pip of this environment, which need not be the one on the PATH; uv's if the environment has none."""
    python = _quoted(_shown(Path(sys.executable)))
    return f"uv pip install --python {python}" if find_spec("pip") is None else f"{python} -m pip install"


def _clone() -> Path:
    return find_origin().path or Path.cwd()


def _shown(path: Path) -> str:
    """Relative to the current folder, if that is the folder of the environment, such as a clone."""
    here = Path.cwd()
    return str(path.relative_to(here)) if Path(sys.prefix).parent == here and path.is_relative_to(here) else str(path)


def _quoted(word: str) -> str:
    return subprocess.list2cmdline([word]) if os.name == "nt" else shlex.quote(word)


_COMMANDS = {
    Kind.CLONE: Commands(_clone_extra, _clone_package, _clone_upgrade, _clone_repair),
    Kind.CONTAINER: Commands(
        lambda _: BUILD_IMAGE,
        lambda _: BUILD_IMAGE,
        lambda: "git pull && docker compose up --build --detach",
        lambda: "docker compose build --no-cache",
    ),
    Kind.PIP: Commands(_pip_extra, _pip_package, _pip_upgrade, _pip_repair),
    Kind.PIPX: Commands(
        lambda extra: f"pipx runpip chie install {_quoted(f'chie[{extra}]')}",
        lambda requirement: f"pipx inject chie {_quoted(requirement)}",
        lambda: "pipx upgrade chie",
        lambda: "pipx reinstall chie",
    ),
    Kind.UV_TOOL: Commands(
        _uv_tool_extra, _uv_tool_package, _uv_tool_upgrade, lambda: "uv tool upgrade --reinstall chie"
    ),
    Kind.UVX: Commands(
        lambda extra: _uvx({extra}),
        lambda requirement: _uvx(set(), f"--with {_quoted(requirement)}"),
        lambda: "uvx chie@latest serve",
        lambda: "uv cache clean chie",
    ),
}
