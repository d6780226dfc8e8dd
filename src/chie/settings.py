"""Loads settings from the environment and `.env` files, and reports what is wrong with them.

The `.env` in `CHIE_HOME` belongs to the operator and always counts. The one in the current folder counts for commands
that a person types there. A server started by an assistant runs in whatever folder is open, possibly with somebody
else's `.env` in it, so it ignores that file (docs/decisions/0014-env-files.md).
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

from platformdirs import user_data_path
from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.errors import ConfigurationError

S = TypeVar("S", bound=BaseSettings)

HOME = "CHIE_HOME"
ENV_FILE = ".env"

logger = logging.getLogger(__name__)


class _CurrentFolder:
    """Whether the current folder's `.env` counts in this process."""

    counts = True


@contextmanager
def without_current_folder() -> Iterator[None]:
    """Ignore the current folder's `.env`: for a server that an assistant starts."""
    _CurrentFolder.counts = False
    try:
        if Path(ENV_FILE).is_file() and Path(ENV_FILE).resolve() != (home_folder().expanduser() / ENV_FILE).resolve():
            logger.info("%s is ignored; docs/connect.md has the reason", Path(ENV_FILE).absolute())
        yield
    finally:
        _CurrentFolder.counts = True


def home_folder() -> Path:
    """`CHIE_HOME`. It cannot be set in the `.env` of that folder, whose path it gives."""
    value = os.environ.get(HOME) or _current_folder_values().get(HOME) or ""
    if "${" in value:
        raise ConfigurationError("settings.home_not_expanded")
    return Path(value) if value.strip() else user_data_path("chie", appauthor=False)


def _blank_is_unset(value: object) -> object:
    return home_folder() if isinstance(value, str) and not value.strip() else value


class HomeSettings(BaseSettings):
    """The base of all settings that need `CHIE_HOME`. The alias keeps a subclass's prefix off the variable."""

    model_config = SettingsConfigDict(extra="ignore")

    home: Annotated[Path, BeforeValidator(_blank_is_unset)] = Field(
        default_factory=home_folder,
        validation_alias=HOME,
        description="Folder of Chie's own files: `chie.db`, `users.json`, `servers.json`, `audit.log`, …",
    )


def load(kind: type[S]) -> S:
    files = [file for file in env_files() if _values(file)]  # raises for an unreadable file
    try:
        return kind(_env_file=files)
    except ValidationError as error:
        locations = {str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}
        raise _invalid(sorted(_variable(kind, location) for location in locations), files) from error


def environment() -> Mapping[str, str | None]:
    """All variables by name, including those of the `.env` files."""
    values: dict[str, str | None] = {}
    for file in env_files():
        values.update(_values(file))
    return {**values, **os.environ}


def env_files() -> list[Path]:
    """The `.env` files that count; later ones override earlier ones, and the environment overrides all."""
    home = home_folder().expanduser()
    other = _values(home / ENV_FILE).get(HOME)
    if other and Path(other).expanduser().resolve() != home.resolve():
        raise ConfigurationError("settings.home_in_own_file", file=str(home / ENV_FILE))
    return [home / ENV_FILE, Path(ENV_FILE).absolute()] if _CurrentFolder.counts else [home / ENV_FILE]


def home_variables() -> Mapping[str, str | None]:
    """The variables in the `.env` in `CHIE_HOME`."""
    return _values(home_folder().expanduser() / ENV_FILE)


def _current_folder_values() -> dict[str, str | None]:
    return _values(Path(ENV_FILE).absolute()) if _CurrentFolder.counts else {}


def _values(file: Path) -> dict[str, str | None]:
    from dotenv import dotenv_values

    try:
        return dict(dotenv_values(file)) if file.is_file() else {}
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigurationError("settings.file_not_readable", file=str(file)) from error


def _variable(kind: type[BaseSettings], location: str) -> str:
    """Pydantic reports a field by its alias, if it has one; an alias takes no prefix."""
    aliases = {field.validation_alias for field in kind.model_fields.values()}
    prefix = "" if location in aliases else kind.model_config.get("env_prefix", "")
    return f"{prefix}{location}".upper()


def _invalid(names: list[str], files: list[Path]) -> ConfigurationError:
    """Names the file that has the wrong value, unless the environment overrides it."""
    unset = {*names} - {name.upper() for name in os.environ}
    for file in reversed(files):
        if found := sorted(unset & {name.upper() for name in _values(file)}):
            return ConfigurationError("settings.invalid_in_file", names=found, file=str(file))
    return ConfigurationError("settings.invalid", names=names)
