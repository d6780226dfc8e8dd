"""Workflow files named by a caller: only those inside the folders that the operator allows."""

import json
from collections.abc import Sequence
from pathlib import Path

from chie.messages.catalogue import Param
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json

MAX_FILE_BYTES = 16 * 1024 * 1024  # n8n rejects larger bodies


class AllowedFolders:
    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [root.expanduser().resolve() for root in roots]

    def read(self, file_path: str) -> Json:
        """The workflow in that file; every way in which a file can be invalid has its own error code."""
        text = self._text(self._inside(file_path))
        try:
            content = json.loads(text)
        except ValueError as error:
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
            if file.is_dir():
                raise _invalid("n8n.file_is_folder")
            if file.stat().st_size > MAX_FILE_BYTES:
                raise _invalid("n8n.file_too_large")
            return file.read_text(encoding="utf-8-sig")
        except FileNotFoundError as error:
            raise _invalid("n8n.file_not_found") from error
        except UnicodeDecodeError as error:
            raise _invalid("n8n.file_not_utf8") from error
        except OSError as error:
            raise _invalid("n8n.file_unreadable", error=type(error).__name__) from error


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
