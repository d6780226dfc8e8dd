"""Workflow files named by a caller: only those inside the folders that the operator allows."""

import asyncio
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from chie.messages.catalogue import Param
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json

MAX_FILE_BYTES = 16 * 1024 * 1024  # n8n rejects larger bodies
# The file may be replaced between the check of its path and the opening: by a link, or by a pipe that would block.
_OPEN_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


class AllowedFolders:
    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [root.expanduser().resolve() for root in roots]

    async def read(self, file_path: str) -> Json:
        """In a thread: a slow disk or a large file must not stop the other requests."""
        return await asyncio.to_thread(self.read_blocking, file_path)

    def read_blocking(self, file_path: str) -> Json:
        """The workflow in that file; every way in which a file can be invalid has its own error code."""
        text = self._text(self._inside(file_path))
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _invalid("n8n.file_not_json") from error
        _require_workflow(content)
        workflow: Json = content
        return workflow

    def _inside(self, file_path: str) -> Path:
        if not self._roots:
            raise _invalid("n8n.no_folder_allowed")
        try:  # resolve links first, so that none points outside
            file = Path(file_path).expanduser().resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise _invalid("n8n.file_path_invalid") from error
        if not any(file.is_relative_to(root) for root in self._roots):
            raise _invalid("n8n.file_outside_allowed_folders")
        return file

    def _text(self, file: Path) -> str:
        try:
            _require_regular(file.stat())  # opening a device may have side effects
            with open(os.open(file, _OPEN_FLAGS), "rb") as opened:  # noqa: PTH123 - pathlib takes no flags
                _require_regular(os.fstat(opened.fileno()))
                content = opened.read(MAX_FILE_BYTES + 1)
            if len(content) > MAX_FILE_BYTES:
                raise _invalid("n8n.file_too_large")
            return content.decode("utf-8-sig")
        except FileNotFoundError as error:
            raise _invalid("n8n.file_not_found") from error
        except UnicodeDecodeError as error:
            raise _invalid("n8n.file_not_utf8") from error
        except OSError as error:
            raise _invalid("n8n.file_unreadable", error=type(error).__name__) from error


def _require_regular(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise _invalid("n8n.file_is_folder")
    if not stat.S_ISREG(found.st_mode):
        raise _invalid("n8n.file_not_regular")
    if found.st_size > MAX_FILE_BYTES:
        raise _invalid("n8n.file_too_large")


def _require_workflow(content: object) -> None:
    if not isinstance(content, dict):
        raise _invalid("n8n.file_not_workflow")
    for key, kind, expected in (("name", str, "string"), ("nodes", list, "list"), ("connections", dict, "object")):
        if not isinstance(content.get(key), kind):
            received = type(content.get(key)).__name__
            context = ValidationErrorContext(field=key, expected_type=expected, received_type=received)
            raise ValidationError("n8n.file_field_invalid", context, field=key, expected=expected)
    if not isinstance(content.get("settings", {}), dict):
        raise _invalid("n8n.file_settings_invalid")


def _invalid(code: str, **params: Param) -> ValidationError:
    return ValidationError(code, ValidationErrorContext(field="filePath"), **params)
