"""Other projects, installed from `peers.toml` for comparison, never into our own environment.

python -m bench.peers     installs all of them
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path.home() / ".cache" / "chie" / "peers"
UV = "uv==0.13.7"
INSTALL_TIMEOUT_SECONDS = 900


class PeerMissingError(Exception):
    """A peer that cannot be installed or started here; the text gives the reason."""


@dataclass(frozen=True)
class Peer:
    name: str
    python: str
    install: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.name} {self.install[0].partition('==')[2]}"

    @property
    def home(self) -> Path:
        return HOME / self.name

    @property
    def program(self) -> Path:
        return self.home / "bin" / self.name


def peers() -> dict[str, Peer]:
    listed: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {name: Peer(name, peer["python"], tuple(peer["install"])) for name, peer in listed.items()}


@cache
def installed(name: str) -> Peer:
    """Installs a peer unless it is up to date; raises PeerMissingError."""
    peer = peers()[name]
    stamp, wanted = peer.home / ".installed", json.dumps([peer.python, *peer.install])
    if not (stamp.exists() and stamp.read_text("utf-8") == wanted):
        print(f"Installing {', '.join(peer.install)} into {peer.home}…", flush=True)
        _run(_uv(), "venv", "--quiet", "--clear", "--python", _python(peer.python), peer.home)
        _run(_uv(), "pip", "install", "--quiet", "--python", peer.home / "bin" / "python", *peer.install)
        stamp.write_text(wanted, "utf-8")
    return peer


@cache
def _uv() -> Path:
    home = HOME / "uv"
    if not (home / "bin" / "uv").exists():
        _run(sys.executable, "-m", "venv", home)
        _run(home / "bin" / "python", "-m", "pip", "install", "--quiet", UV)
    return home / "bin" / "uv"


def _python(version: str) -> str:
    """A Python that runs: a version manager's shim may be on the path for a version that is not selected."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for candidate in filter(None, [sys.executable, *found]):
        asked = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if asked.stdout.startswith(f"Python {version}."):
            return candidate
    raise PeerMissingError(f"it needs Python {version}, which this machine does not have.")


def _run(*command: str | Path) -> None:
    links = {"UV_FIND_LINKS": os.environ["PIP_FIND_LINKS"]} if "PIP_FIND_LINKS" in os.environ else {}
    try:
        subprocess.run(
            command, env=os.environ | links, capture_output=True, text=True, check=True, timeout=INSTALL_TIMEOUT_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise PeerMissingError(f"it cannot be installed: {last_line(error.stderr)}") from error
    except subprocess.TimeoutExpired as error:
        raise PeerMissingError(f"installing it took longer than {INSTALL_TIMEOUT_SECONDS // 60} minutes.") from error


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no reason was given"


def main() -> None:
    for name in peers():
        try:
            print(f"{installed(name).label}: {peers()[name].home}")
        except PeerMissingError as error:
            print(f"{name}: {error}")


if __name__ == "__main__":
    main()
