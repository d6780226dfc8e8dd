"""Files that an operator writes by hand: JSON with `${VAR}` in it, and errors that name the line and the field."""

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from chie.errors import ConfigurationError
from chie.settings import environment

M = TypeVar("M", bound=BaseModel)
Place = tuple[int | str, ...]

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


class JsonFile:
    """One such file, read once. A file that is not there is empty, unless the operator named it."""

    def __init__(self, path: Path, *, required: bool) -> None:
        self.path = path
        self._text = self._read(required=required)
        self.content: Any = self._parse()

    def model(self, kind: type[M], value: object, place: Place) -> M:
        """The value as `kind`, with its variables put in; what is wrong is told in the file's own terms."""
        try:
            return kind.model_validate(self._expand(value, place))
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            raise self.fault((*place, *detail["loc"]), _expectation(detail)) from error

    def fault(self, place: Place, expectation: str) -> ConfigurationError:
        line = self._line(place) or "?"
        return ConfigurationError(f"{self.path}, line {line}: {_field(place)} {expectation}")

    def unknown(self, place: Place) -> ConfigurationError:
        return self.fault(place, _EXPECTATIONS["extra_forbidden"])

    def _read(self, *, required: bool) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError as error:
            if required:
                raise ConfigurationError(f"{self.path} does not exist. Write it, or correct its setting.") from error
            return "{}"
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"{self.path} cannot be read as UTF-8 text. Mend the file or its rights."
            ) from error

    def _parse(self) -> Any:  # noqa: ANN401
        try:
            return json.loads(self._text)
        except json.JSONDecodeError as error:
            raise ConfigurationError(
                f"{self.path}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}). "
                "Mend it there."
            ) from error

    def _expand(self, value: object, place: Place) -> object:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: self._variable(match, place), value)
        if isinstance(value, list):
            return [self._expand(item, (*place, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self._expand(item, (*place, key)) for key, item in value.items()}
        return value

    def _variable(self, match: re.Match[str], place: Place) -> str:
        value = environment().get(match["name"]) or match["default"]
        if value is None:
            raise self.fault(place, f"needs the environment variable {match['name']}. Set it, or write its value here.")
        return value

    def _line(self, place: Place) -> int | None:
        """JSON is YAML as well, and a YAML parser remembers where things stood; but for very long keys and some control
        characters, which YAML refuses."""
        try:
            node: yaml.Node | None = yaml.compose(self._text.replace("\t", " "), Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            return None
        line = 1
        for step in place:
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


def _field(place: Place) -> str:
    """`servers`, 0 is shown as `servers[0]`."""
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return shown.lstrip(".") or "the file"


_EXPECTATIONS = {
    "missing": "is missing. Add it.",
    "extra_forbidden": "is not a field that is known here. Remove it, or look up its name in docs/agents.md.",
    "string_type": "must be a string.",
    "list_type": "must be a list.",
    "tuple_type": "must be a list.",
    "dict_type": "must be an object.",
    "model_type": "must be an object.",
    "bool_type": "must be true or false.",
}


def _expectation(detail: ErrorDetails) -> str:
    """Never the value itself: it may be a secret."""
    if detail["type"] in ("value_error", "literal_error"):
        context = detail.get("ctx", {})
        return str(context.get("error") or f"must be one of {context.get('expected')}.")
    return _EXPECTATIONS.get(detail["type"], "has a wrong value. Its form is in docs/agents.md.")
