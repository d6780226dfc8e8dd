"""The audit log: who wrote what kind of thing and when, never its content. One JSON object per line."""

import json
import logging
import os
import sys
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from chie.access.identity import current_user
from chie.files import append_line, make_folder
from chie.logging import request_id

logger = logging.getLogger(__name__)


def record(kind: str, thing: str | None, *, outcome: str = "done") -> None:
    """`kind` is the type of thing and what was done to it, such as `note.deleted`; `thing` is an id."""
    line = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "user": current_user().id,
        "kind": kind,
        "id": thing,
        "outcome": outcome,
        "request": request_id(),
    }
    text = json.dumps(line, ensure_ascii=False) + "\n"
    path = _path(*map(os.environ.get, ("CHIE_AUDIT_LOG", "CHIE_HOME")))
    try:
        _append(path, text) if path else sys.stderr.write(text)
    except OSError as error:
        logger.error("cannot write the audit log %s (%s): %s", path or "stderr", error.strerror, text)  # noqa: TRY400


@lru_cache(maxsize=8)
def _path(*_: object) -> Path | None:
    from chie.access.settings import AccessSettings
    from chie.settings import load

    return load(AccessSettings).audit_path


def _append(path: Path, text: str) -> None:
    try:
        append_line(path, text, rotate=True)
    except FileNotFoundError:
        make_folder(path.parent)
        append_line(path, text, rotate=True)
