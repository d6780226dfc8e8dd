"""A task of the Task Scheduler that starts at logon, on Windows."""

import csv
import getpass
import io
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from chie.service.definition import DESCRIPTION, MARKER, Definition, File, State
from chie.service.programs import attempt, run

TASK = "Chie"
NAMESPACE = "http://schemas.microsoft.com/windows/2004/02/mit/task"
RESTARTS = 255  # the most that the schema allows

LAUNCHER = '''# {marker}.
"""A task has neither environment variables nor a hidden console, so pythonw runs this file."""
import os
import runpy
import sys

os.environ.update({environment!r})
sys.argv = {argv!r}
runpy.run_module("chie", run_name="__main__")
'''


class TaskScheduler:
    """The definition is kept in `CHIE_HOME`; the scheduler stores a copy of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @property
    def file(self) -> Path:
        return self._home / "service.xml"

    @property
    def launcher(self) -> Path:
        return self._home / "service.pyw"

    def files(self, definition: Definition) -> list[File]:
        argv = ["chie", "serve", "--log-file", str(definition.log), *definition.arguments]
        launcher = LAUNCHER.format(marker=MARKER, environment=dict(definition.environment), argv=argv)
        # schtasks reads UTF-16 alone
        return [File(self.file, self._task(definition.home), "utf-16"), File(self.launcher, launcher)]

    def _task(self, home: Path) -> str:
        user = _user()
        task = _element(
            "Task",
            _element("RegistrationInfo", _element("Description", f"{DESCRIPTION}. {MARKER}.")),
            _element("Triggers", _element("LogonTrigger", _element("UserId", user))),
            _element(
                "Principals",
                _element(
                    "Principal",
                    _element("UserId", user),
                    _element("LogonType", "InteractiveToken"),
                    _element("RunLevel", "LeastPrivilege"),
                    id="Author",
                ),
            ),
            _element(
                "Settings",
                _element("MultipleInstancesPolicy", "IgnoreNew"),
                _element("DisallowStartIfOnBatteries", "false"),
                _element("StopIfGoingOnBatteries", "false"),
                _element("StartWhenAvailable", "true"),
                _element("ExecutionTimeLimit", "PT0S"),
                _element("RestartOnFailure", _element("Interval", "PT1M"), _element("Count", str(RESTARTS))),
            ),
            _element(
                "Actions",
                _element(
                    "Exec",
                    _element("Command", str(Path(sys.executable).with_name("pythonw.exe"))),
                    _element("Arguments", subprocess.list2cmdline([str(self.launcher)])),
                    _element("WorkingDirectory", str(home)),
                ),
                Context="Author",
            ),
            version="1.2",
            xmlns=NAMESPACE,
        )
        ET.indent(task)
        return f'<?xml version="1.0" encoding="UTF-16"?>\n{ET.tostring(task, encoding="unicode")}\n'

    def require(self) -> None:
        run("schtasks", "/Query", "/FO", "CSV", "/NH")

    def start(self) -> None:
        attempt("schtasks", "/End", "/TN", TASK)
        run("schtasks", "/Create", "/TN", TASK, "/XML", str(self.file), "/F")
        run("schtasks", "/Run", "/TN", TASK)

    def state(self) -> State:
        """The status is in the language of the system, so a running task is told by PowerShell's name for it."""
        done = attempt("schtasks", "/Query", "/TN", TASK, "/FO", "CSV", "/NH")
        row = next(csv.reader(io.StringIO(done.stdout)), []) if done.returncode == 0 else []
        name = attempt("powershell", "-NoProfile", "-Command", f"(Get-ScheduledTask -TaskName {TASK}).State")
        return State(name.stdout.strip() == "Running", row[-1] if row else "not registered")

    def stop(self) -> None:
        attempt("schtasks", "/End", "/TN", TASK)
        run("schtasks", "/Delete", "/TN", TASK, "/F")
        self.launcher.unlink(missing_ok=True)
        self.file.unlink()

    def log_command(self, home: Path) -> str:
        return f"type {subprocess.list2cmdline([str(home / 'logs' / 'service.log')])}"

    def advice(self) -> str | None:
        return None


def _user() -> str:
    domain = os.environ.get("USERDOMAIN")
    return f"{domain}\\{getpass.getuser()}" if domain else getpass.getuser()


def _element(tag: str, *content: "str | ET.Element", **attributes: str) -> ET.Element:
    element = ET.Element(tag, attributes)
    for part in content:
        if isinstance(part, str):
            element.text = part
        else:
            element.append(part)
    return element
