"""JSON files that an operator writes by hand, with `${VAR}` in values and errors that name the line and the field."""

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from chie.errors import ConfigurationError
from chie.messages.catalogue import Message, Param
from chie.settings import environment

M = TypeVar("M", bound=BaseModel)
FieldPath = tuple[int | str, ...]

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")

_CODES = {
    "missing": "files.field_missing",
    "extra_forbidden": "files.field_unknown",
    "string_type": "files.not_string",
    "list_type": "files.not_list",
    "tuple_type": "files.not_list",
    "dict_type": "files.not_object",
    "model_type": "files.not_object",
    "bool_type": "files.not_boolean",
}


class JsonFile:
    """Read once. A file that does not exist counts as empty, unless it is `required`."""

    def __init__(self, path: Path, *, required: bool) -> None:
        self.path = path
        self._text = self._read(required=required)
        self.content: Any = self._parse()

    def model(self, kind: type[M], value: object, path: FieldPath) -> M:
        """The value as `kind`, with variables expanded. Raises ConfigurationError for the first invalid field."""
        try:
            return kind.model_validate(self._expand(value, path))
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            code, params = _reason(detail)
            raise self.error(code, (*path, *detail["loc"]), **params) from error

    def error(self, code: str, path: FieldPath, **params: Param) -> ConfigurationError:
        """An error about one field of the file."""
        line = self._line(path) or "?"
        return ConfigurationError(code, path=str(self.path), line=line, field=_field(path), **params)

    def _read(self, *, required: bool) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError as error:
            if required:
                raise ConfigurationError("files.not_found", path=str(self.path)) from error
            return "{}"
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError("files.unreadable", path=str(self.path)) from error

    def _parse(self) -> Any:  # noqa: ANN401
        try:
            return json.loads(self._text)
        except json.JSONDecodeError as error:
            position = {"line": error.lineno, "column": error.colno}
            raise ConfigurationError("files.not_json", path=str(self.path), error=error.msg, **position) from error

    def _expand(self, value: object, path: FieldPath) -> object:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: self._variable(match, path), value)
        if isinstance(value, list):
            return [self._expand(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self._expand(item, (*path, key)) for key, item in value.items()}
        return value

    def _variable(self, match: re.Match[str], path: FieldPath) -> str:
        value = environment().get(match["name"]) or match["default"]
        if value is None:
            raise self.error("files.variable_missing", path, variable=match["name"])
        return value

    def _line(self, path: FieldPath) -> int | None:
        """JSON is also YAML, whose parser keeps line numbers. It rejects very long keys and some control characters,
        for which the line is unknown."""
        try:
            node: yaml.Node | None = yaml.compose(self._text.replace("\t", " "), Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            return None
        line = 1
        for step in path:
            key, node = _child(node, step)
            if key is None:
                break
            line = key.start_mark.line + 1
        return line


def _child(node: yaml.Node | None, step: int | str) -> tuple[yaml.Node | None, yaml.Node | None]:
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), (None, None))
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None, None


def _field(path: FieldPath) -> str | Message:
    """`("servers", 0)` is shown as `servers[0]`."""
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return f"`{shown}`" if shown else Message("files.whole_file")


def _reason(detail: ErrorDetails) -> tuple[str, dict[str, Param]]:
    """Never includes the value itself, which may be a secret. A model's own validators raise with a code of ours."""
    kind = detail["type"]
    if kind == "literal_error":
        return "files.value_not_allowed", {"allowed": str(detail["ctx"]["expected"])}
    if kind.startswith("files."):
        return kind, {}
    return _CODES.get(kind, "files.value_invalid"), {}
