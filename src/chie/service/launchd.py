"""A launch agent, on macOS."""

import os
import plistlib
import re
import shlex
import time
from pathlib import Path

from chie.service.definition import MARKER, Definition, File, State
from chie.service.programs import attempt, run

LABEL = "chie.server"
THROTTLE_SECONDS = 10
UNLOAD_SECONDS = 20


class Launchd:
    @property
    def file(self) -> Path:
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def files(self, definition: Definition) -> list[File]:
        content = {
            "Label": LABEL,
            "ProgramArguments": list(definition.command),
            "EnvironmentVariables": dict(definition.environment),
            "WorkingDirectory": str(definition.home),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": THROTTLE_SECONDS,
            "StandardOutPath": str(definition.log),
            "StandardErrorPath": str(definition.log),
        }
        head, end, rest = plistlib.dumps(content, sort_keys=False).decode().partition("?>\n")
        return [File(self.file, f"{head}{end}<!-- {MARKER}. -->\n{rest}")]

    def require(self) -> None:
        run("launchctl", "print", _domain())

    def start(self) -> None:
        self._unload()
        run("launchctl", "enable", f"{_domain()}/{LABEL}")
        run("launchctl", "bootstrap", _domain(), str(self.file))

    def state(self) -> State:
        done = attempt("launchctl", "print", f"{_domain()}/{LABEL}")
        found = re.search(r"^\s*state = (.+)$", done.stdout, re.MULTILINE)
        detail = found[1].strip() if done.returncode == 0 and found else "not loaded"
        return State(detail == "running", detail)

    def stop(self) -> None:
        self._unload()
        self.file.unlink()

    def log_command(self, home: Path) -> str:
        return f"tail {shlex.quote(str(home / 'logs' / 'service.log'))}"

    def advice(self) -> str | None:
        return None

    def _unload(self) -> None:
        """`bootout` returns before the process has ended; loading the file again would fail until then."""
        attempt("launchctl", "bootout", f"{_domain()}/{LABEL}")
        end = time.monotonic() + UNLOAD_SECONDS
        while attempt("launchctl", "print", f"{_domain()}/{LABEL}").returncode == 0 and time.monotonic() < end:
            time.sleep(0.2)


def _domain() -> str:
    return f"gui/{os.getuid()}"
