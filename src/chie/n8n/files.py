"""Workflow files that a caller names: only inside the folders that the operator allows."""

import json
from collections.abc import Sequence
from pathlib import Path

from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json

LARGEST = 16 * 1024 * 1024


class Folders:
    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [root.expanduser().resolve() for root in roots]

    def read(self, file_path: str) -> Json:
        """The workflow in that file; each way in which it can be none has its own sentence."""
        text = self._text(self._inside(file_path))
        try:
            content = json.loads(text)
        except ValueError as error:
            raise _wrong("the file is not JSON: export the workflow from n8n again.") from error
        _refuse_other_shapes(content)
        workflow: Json = content
        return workflow

    def _inside(self, file_path: str) -> Path:
        if not self._roots:
            raise _wrong("no folder is allowed: let the operator set N8N_FILE_ROOTS.")
        try:  # links are followed first, so that none leads outside
            file = Path(file_path).expanduser().resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise _wrong("it is not a path.") from error
        if not any(file.is_relative_to(root) for root in self._roots):
            raise _wrong(
                "the file is outside the allowed folders: move it there, or let the operator extend N8N_FILE_ROOTS."
            )
        return file

    def _text(self, file: Path) -> str:
        try:
            if file.is_dir():
                raise _wrong("it is a folder: name a JSON file.")
            if file.stat().st_size > LARGEST:
                raise _wrong("the file is larger than 16 MB, which n8n would not take.")
            return file.read_text(encoding="utf-8-sig")
        except FileNotFoundError as error:
            raise _wrong(
                "no such file: give the full path, or one relative to where the server was started."
            ) from error
        except UnicodeDecodeError as error:
            raise _wrong("the file is not UTF-8 text.") from error
        except OSError as error:
            raise _wrong(f"the file cannot be read ({type(error).__name__}): check its permissions.") from error


def _refuse_other_shapes(content: object) -> None:
    if not isinstance(content, dict):
        raise _wrong("the file does not hold one workflow: it must be an object with name, nodes and connections.")
    for key, kind, word in (("name", str, "a text"), ("nodes", list, "a list"), ("connections", dict, "an object")):
        if not isinstance(content.get(key), kind):
            raise ValidationError(
                f"The file is not a workflow: {key} must be {word}.",
                ValidationErrorContext(field=key, expected_type=word, received_type=type(content.get(key)).__name__),
            )
    if not isinstance(content.get("settings", {}), dict):
        raise _wrong("settings in the file must be an object.")


def _wrong(reason: str) -> ValidationError:
    return ValidationError(f"filePath: {reason}", ValidationErrorContext(field="filePath"))
