"""The result of a check."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chie.messages.catalogue import Message

State = Literal["ok", "off", "warning", "problem"]

EDIT_SETTINGS = '"${EDITOR:-vi}" .env'


@dataclass(frozen=True)
class Finding:
    """`off` means not configured, which is not a problem. `fix` is a shell command."""

    check: str
    state: State
    message: Message
    fix: str | None = None


def edit(*files: Path) -> str:
    """The command that opens the files in an editor."""
    return " ".join(['"${EDITOR:-vi}"', *(f'"{file}"' for file in files)])
