"""What every service manager is told: the command, its environment, its folder and its log."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chie.errors import ConfigurationError, ValidationError
from chie.installation.environment import Kind, find_kind

MARKER = "Written by `chie service install`"  # in every file that is ours to replace and remove
DESCRIPTION = "Chie: MCP servers for team notes, Bedrock knowledge bases and n8n, with a chat UI"

# Variables that Chie reads. Those of this shell that a service does not get are named.
PREFIXES = ("CHIE_", "OPENAI_", "ANTHROPIC_", "AWS_", "BEDROCK_", "N8N_", "VECTOR_SEARCH_", "GOOGLE_")


@dataclass(frozen=True)
class Definition:
    """`arguments` follow `chie serve`. The folder is `CHIE_HOME`, so that its `.env` is the only one that counts."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    home: Path

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-m", "chie", "serve", *self.arguments)

    @property
    def log(self) -> Path:
        """For managers that keep no log of their own."""
        return self.home / "logs" / "service.log"


@dataclass(frozen=True)
class File:
    path: Path
    text: str
    encoding: str = "utf-8"


@dataclass(frozen=True)
class State:
    """`detail` is the manager's own description, such as `active (running)`."""

    running: bool
    detail: str


class Manager(Protocol):
    """A service manager of an operating system, for the services of one user."""

    @property
    def file(self) -> Path:
        """The file that defines the service."""

    def files(self, definition: Definition) -> list[File]:
        """All files of the service, the defining one first."""

    def require(self) -> None:
        """Raise unless the manager is available."""

    def start(self) -> None:
        """Load the files, start the service now and at every login; replace one that runs."""

    def state(self) -> State: ...

    def stop(self) -> None:
        """Stop the service and forget it."""

    def log_command(self, home: Path) -> str:
        """The command that shows the log."""

    def advice(self) -> str | None:
        """The next step after an installation, if there is one."""


def define(arguments: Sequence[str], options: Sequence[str], home: Path, environ: Mapping[str, str]) -> Definition:
    """`options` are those of `--env`: NAME, whose value is taken from `environ`, or NAME=VALUE."""
    if find_kind() is Kind.UVX:
        raise ConfigurationError("service.uvx_not_supported")
    if find_kind() is Kind.CONTAINER:
        raise ConfigurationError("service.container_not_supported")
    # MCP servers in `servers.json` and AWS's credential processes are found through the PATH.
    variables = {"CHIE_HOME": str(home), "PATH": environ.get("PATH", os.defpath)}
    for option in options:
        name, given, value = option.partition("=")
        if not name or (not given and name not in environ):
            raise ValidationError("service.variable_not_set", name=name)
        variables[name] = value if given else environ[name]
    return Definition(tuple(arguments), variables, home)


def variables_left_out(definition: Definition, stored: Iterable[str], environ: Iterable[str]) -> list[str]:
    """Variables for Chie that are set in this shell and that the service will not see."""
    return sorted({name for name in environ if name.startswith(PREFIXES)} - {*definition.environment, *stored})
