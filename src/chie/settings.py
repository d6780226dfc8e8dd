"""Settings come from the environment and from `.env` files; what is wrong there is said in our words.

The `.env` in `CHIE_HOME` is its owner's, and everything reads it. The one in the current folder counts for what a
person types there. A server that an assistant started stands in whatever folder is open, which may be a stranger's:
it passes that file over (docs/decisions/0014-env-files.md).
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

from platformdirs import user_data_path
from pydantic import BeforeValidator, ValidationError
from pydantic_settings import BaseSettings

from chie.errors import ConfigurationError

S = TypeVar("S", bound=BaseSettings)

HOME = "CHIE_HOME"
FILE = ".env"

logger = logging.getLogger(__name__)


class _Folder:
    """The current one, and whether its `.env` counts in this process."""

    counts = True


@contextmanager
def without_folder() -> Iterator[None]:
    """For a server that an assistant starts: what lies in the folder where that happens is not its operator's."""
    _Folder.counts = False
    try:
        if Path(FILE).is_file() and Path(FILE).resolve() != (home_folder().expanduser() / FILE).resolve():
            logger.info("%s is passed over; docs/connect.md says why, and where it would count", Path(FILE).absolute())
        yield
    finally:
        _Folder.counts = True


def home_folder() -> Path:
    """`CHIE_HOME`, which says where one of the files is, and so cannot come from there."""
    said = os.environ.get(HOME) or _folder().get(HOME) or ""
    if "${" in said:
        raise ConfigurationError(
            "CHIE_HOME still has ${…} in it: whoever started Chie passed the text on as it stands. "
            "Write the folder's path there, or leave CHIE_HOME out."
        )
    return Path(said) if said.strip() else user_data_path("chie", appauthor=False)


def _set(value: object) -> object:
    """As `home_folder` reads it: what is blank counts as not set."""
    return home_folder() if isinstance(value, str) and not value.strip() else value


Home = Annotated[Path, BeforeValidator(_set)]
"""For every field that is `CHIE_HOME`; its default is `home_folder`."""


def load(kind: type[S]) -> S:
    files = [file for file in env_files() if _values(file)]  # one that cannot be read is named here
    try:
        return kind(_env_file=files)
    except ValidationError as error:
        prefix = kind.model_config.get("env_prefix", "")
        names = sorted({f"{prefix}{detail['loc'][0]}".upper() for detail in error.errors() if detail["loc"]})
        raise _wrong(names, files) from error


def environment() -> Mapping[str, str | None]:
    """All of it by name, the files' share included."""
    values: dict[str, str | None] = {}
    for file in env_files():
        values.update(_values(file))
    return {**values, **os.environ}


def env_files() -> list[Path]:
    """Those that count, each with priority over the one before it; the environment has priority over all."""
    here = home_folder().expanduser()
    said = _values(here / FILE).get(HOME)
    if said and Path(said).expanduser().resolve() != here.resolve():
        raise ConfigurationError(
            f"CHIE_HOME in {here / FILE} names another folder, though that file is read because it is in CHIE_HOME. "
            "Remove the line there, and set it in the environment."
        )
    return [here / FILE, Path(FILE).absolute()] if _Folder.counts else [here / FILE]


def _folder() -> dict[str, str | None]:
    return _values(Path(FILE).absolute()) if _Folder.counts else {}


def _values(file: Path) -> dict[str, str | None]:
    from dotenv import dotenv_values

    try:
        return dict(dotenv_values(file)) if file.is_file() else {}
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read. Make it plain UTF-8 text, or remove it.") from error


def _wrong(names: list[str], files: list[Path]) -> ConfigurationError:
    """What the environment says is not looked for in the files: it is what counted."""
    left = {*names} - {name.upper() for name in os.environ}
    for file in reversed(files):
        if found := sorted(left & {name.upper() for name in _values(file)}):
            return ConfigurationError(
                f"wrong value for {', '.join(found)}. Correct it in {file}; docs/ says what it may be."
            )
    return ConfigurationError(
        f"wrong value for {', '.join(names)}. Correct it in the environment; docs/ says what it may be."
    )
