"""Making a backup."""

import tempfile
from pathlib import Path

from chie.backup.archive import Manifest, write_archive
from chie.backup.database import Contents, take_picture
from chie.backup.places import Places
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
    pictures: list[Contents] = []
    for name, database in places.databases.items():
        if database.exists():
            sources[f"databases/{name}"] = folder / name
            pictures.append(take_picture(database, folder / name))
    sources |= {f"home/{file.as_posix()}": places.home / file for file in places.files()}
    return write_archive(target, sources, _described(pictures))


def _described(pictures: list[Contents]) -> Manifest:
    counts: dict[str, int] = {}
    for picture in pictures:
        for table, number in picture.counts.items():
            counts[table] = counts.get(table, 0) + number
    return Manifest(
        notes_schema=max((picture.notes_schema for picture in pictures), default=0),
        sessions_schema=max((picture.sessions_schema for picture in pictures if picture.sessions_schema), default=None),
        counts=counts,
    )
