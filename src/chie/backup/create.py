"""Creating a backup."""

import tempfile
from pathlib import Path

from chie.backup.archive import Manifest, target_error, write_archive
from chie.backup.database import Contents, snapshot
from chie.backup.inventory import ARCHIVED_DATABASE, Inventory
from chie.files import make_folder


def back_up(inventory: Inventory, target: Path) -> Manifest:
    """Write everything into one archive and verify it."""
    try:
        make_folder(target.parent)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".chie-") as folder:
            return _write(inventory, target, Path(folder))
    except OSError as error:
        raise target_error(target.parent, error) from error


def _write(inventory: Inventory, target: Path, folder: Path) -> Manifest:
    sources: dict[str, Path] = {}
    found = Contents(0, None, {})
    if inventory.database.exists():
        copy = folder / ARCHIVED_DATABASE
        sources[f"databases/{ARCHIVED_DATABASE}"] = copy
        found = snapshot(inventory.database, copy, disk=target.parent)
    sources |= {f"home/{file.as_posix()}": inventory.home / file for file in inventory.files()}
    manifest = Manifest(notes_schema=found.notes_schema, sessions_schema=found.sessions_schema, counts=found.counts)
    return write_archive(target, sources, manifest)
