"""The service manager of this system."""

from pathlib import Path
from platform import system

from chie.errors import ConfigurationError
from chie.service.definition import Manager
from chie.service.launchd import Launchd
from chie.service.systemd import Systemd
from chie.service.task_scheduler import TaskScheduler


def find_manager(home: Path) -> Manager:
    name = system()
    if name == "Darwin":
        return Launchd()
    if name == "Windows":
        return TaskScheduler(home)
    if name == "Linux":
        return Systemd()
    raise ConfigurationError("service.platform_not_supported", platform=name)
