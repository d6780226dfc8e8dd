"""What the source of a note refers to: the file it names, if it names one."""

import re
from pathlib import PurePosixPath

from chie.unicode import fold

# `#L10` and `?plain=1` of a URL, and `:42`, `:42:7` and `:10-20` after a path.
_POSITION = re.compile(r"(?:[#?].*|(?::[0-9][0-9,:-]*))$")
_ROOT = re.compile(r"^(?:[a-z][a-z0-9+.-]*://[^/]*|[a-z]:)")
MAX_PATH = 4_096  # characters; no system opens a longer path
MIN_SEGMENTS = 2  # `index.ts` alone may be any of a hundred files


def file_name(source: str | None) -> str | None:
    """The last segment of the source, by which notes are looked up; None without one."""
    segments = _segments(source or "")
    return segments[-1] if segments else None


def names_file(source: str, path: str, folder: str) -> bool:
    """Whether the source names the file `path`, an absolute path, of the project in `folder`."""
    named, file = _segments(source), _segments(path)
    project = _segments(folder)
    within = file[len(project) :] if file[: len(project)] == project else file
    if named in (file, within):
        return True
    if len(named) < len(within):
        return len(named) >= MIN_SEGMENTS and file[-len(named) :] == named
    inside = named[-len(within) :] == within
    return inside and (len(within) >= MIN_SEGMENTS or PurePosixPath(folder).name.casefold() in named)


def _segments(source: str) -> list[str]:
    path = _ROOT.sub("", _POSITION.sub("", fold(source[:MAX_PATH]).strip()).replace("\\", "/"))
    return [segment for segment in path.split("/") if segment not in ("", ".")]
