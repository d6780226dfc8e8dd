"""A user unit of systemd, on Linux."""

import os
import re
from pathlib import Path

from chie.errors import ConfigurationError
from chie.service.definition import DESCRIPTION, MARKER, Definition, File, State
from chie.service.programs import attempt, reason, run

UNIT = "chie.service"
RESTART_SECONDS = 10  # long enough that systemd's start limit never ends the attempts


class Systemd:
    @property
    def file(self) -> Path:
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(config) / "systemd" / "user" / UNIT

    def files(self, definition: Definition) -> list[File]:
        first, *rest = definition.command
        lines = [
            f"# {MARKER}.",
            "[Unit]",
            f"Description={DESCRIPTION}",
            "",
            "[Service]",
            "Type=exec",
            f"ExecStart={' '.join([_quoted(first), *(_quoted(word).replace('$', '$$') for word in rest)])}",
            *(f"Environment={_quoted(f'{name}={value}')}" for name, value in definition.environment.items()),
            f"WorkingDirectory={_escaped(str(definition.home))}",
            "Restart=on-failure",
            f"RestartSec={RESTART_SECONDS}",
            "",
            "[Install]",
            "WantedBy=default.target",
        ]
        return [File(self.file, "\n".join(lines) + "\n")]

    def require(self) -> None:
        """The user instance is missing in containers, after `su` and `sudo`, and on systems without systemd."""
        done = attempt("systemctl", "--user", "show-environment")
        if done.returncode != 0:
            raise ConfigurationError("service.user_manager_missing", reason=reason(done))

    def start(self) -> None:
        run("systemctl", "--user", "daemon-reload")
        run("systemctl", "--user", "enable", UNIT)
        run("systemctl", "--user", "restart", UNIT)

    def state(self) -> State:
        output = run("systemctl", "--user", "show", UNIT, "--property=ActiveState,SubState")
        found = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
        active = found.get("ActiveState", "unknown")
        return State(active == "active", f"{active} ({found.get('SubState', 'unknown')})")

    def stop(self) -> None:
        run("systemctl", "--user", "disable", "--now", UNIT)
        self.file.unlink()
        run("systemctl", "--user", "daemon-reload")
        attempt("systemctl", "--user", "reset-failed", UNIT)

    def log_command(self, home: Path) -> str:  # noqa: ARG002 - systemd keeps the log
        return f"journalctl --user --unit {UNIT}"

    def advice(self) -> str | None:
        return "It stops when you log out. To keep it running, run `loginctl enable-linger` once."


def _escaped(text: str) -> str:
    """`%` starts a specifier everywhere in a unit."""
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    escaped = re.sub(r'[\\"]', r"\\\g<0>", _escaped(text))
    return '"' + escaped.replace("\n", r"\n").replace("\t", r"\t") + '"'
