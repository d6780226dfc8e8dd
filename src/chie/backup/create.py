"""Making a backup."""

import tempfile
from pathlib import Path

from chie.backup.archive import Manifest, write_archive
from chie.backup.database import Contents, take_picture
from chie.backup.inventory import DATABASE, Places
from chie.errors import StorageError


def back_up(places: Places, target: Path) -> Manifest:
    """Everything in one archive, which was read again and found whole."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".chie-") as folder:
            return _write(places, target, Path(folder))
    except OSError as error:
        raise StorageError(
            f"{target.parent} cannot be written: {error.strerror}. Choose another place with enough room."
        ) from error


def _write(places: Places, target: Path, folder: Path) -> Manifest:
    sources: dict[str, Path] = {}
    found = Contents(0, None, {})
    if places.database.exists():
        sources[f"databases/{DATABASE}"] = folder / DATABASE
        found = take_picture(places.database, folder / DATABASE, room=target.parent)
    sources |= {f"home/{file.as_posix()}": places.home / file for file in places.files()}
    manifest = Manifest(notes_schema=found.notes_schema, sessions_schema=found.sessions_schema, counts=found.counts)
    return write_archive(target, sources, manifest)
