"""A backup archive: a zip with a manifest that lists a checksum for every file."""

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from pydantic import BaseModel, Field, ValidationError

from chie import __version__
from chie.errors import StorageError
from chie.errors import ValidationError as InvalidError
from chie.files import create_private, make_folder, replacing

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 64 << 20  # of several hundred thousand files
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks others without a limit on memory

_ITEM_NAME = re.compile(r"(?:databases|home)(?:/[^/\\\x00]+)+")


class Item(BaseModel):
    sha256: str
    size: int


class Manifest(BaseModel):
    """`notes_schema`, `sessions_schema` and `counts` describe the database. Older archives with two databases have the
    newest schema and the counts of both."""

    format: int = FORMAT
    chie: str = __version__
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    notes_schema: int = 0
    sessions_schema: str | None = None
    counts: dict[str, int] = {}
    items: dict[str, Item] = {}


def write_archive(target: Path, sources: Mapping[str, Path], manifest: Manifest) -> Manifest:
    """Write the archive and verify it. `target` only appears once it is complete."""
    try:
        with replacing(target) as draft:
            with draft.open("w+b") as out:
                items = _pack(out, sources, manifest)
            manifest = manifest.model_copy(update={"items": items})
            verify(draft)
    except OSError as error:
        raise target_error(target, error) from error
    return manifest


def _pack(out: IO[bytes], sources: Mapping[str, Path], manifest: Manifest) -> dict[str, Item]:
    items: dict[str, Item] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, path in sources.items():
            try:
                source = path.open("rb")
            except FileNotFoundError:
                if name.startswith("home/"):  # deleted since it was listed
                    continue
                raise
            with source, archive.open(name, "w", force_zip64=True) as into:
                digest, size = _copy(source, into)
            items[name] = Item(sha256=digest, size=size)
        complete = manifest.model_copy(update={"items": items})
        archive.writestr(MANIFEST, complete.model_dump_json(indent=2))
    return items


def verify(path: Path, *, into: Path | None = None) -> Manifest:
    """The manifest of an archive that matches its checksums; unpacked to `into`, if given."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path)
            for name, item in manifest.items.items():
                _check(archive, name, item, into)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError) as error:  # RuntimeError if encrypted
        raise _damaged(path) from error
    except FileNotFoundError as error:
        raise InvalidError("backup.archive_missing", path=str(path)) from error
    except OSError as error:
        raise StorageError("backup.archive_unreadable", path=str(path), reason=error.strerror or "") from error
    return manifest


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(archive.read(_member(archive, MANIFEST, MAX_MANIFEST_BYTES)))
    except ValidationError as error:
        raise _damaged(path) from error
    if manifest.format > FORMAT:
        raise InvalidError("backup.archive_newer", path=str(path), found=manifest.chie, version=__version__)
    if unsafe := [name for name in manifest.items if not _ITEM_NAME.fullmatch(name) or ".." in name.split("/")]:
        raise InvalidError("backup.archive_unsafe", path=str(path), count=len(unsafe))
    return manifest


def _check(archive: zipfile.ZipFile, name: str, item: Item, into: Path | None) -> None:
    member = _member(archive, name, item.size)
    with archive.open(member) as source, _output(into / name if into else None) as out:
        if _copy(source, out) != (item.sha256, item.size):
            raise zipfile.BadZipFile(name)


def _member(archive: zipfile.ZipFile, name: str, max_bytes: int) -> zipfile.ZipInfo:
    """Rejected before a byte of it is unpacked if it is larger; `zipfile` unpacks no more than its `file_size`."""
    member = archive.getinfo(name)
    if member.file_size > max_bytes or member.compress_type not in COMPRESSIONS:
        raise zipfile.BadZipFile(name)
    return member


def _output(target: Path | None) -> IO[bytes]:
    """Without a target the bytes are only checked."""
    if target is None:
        return Path(os.devnull).open("wb")
    make_folder(target.parent)
    return create_private(target)


def _copy(source: IO[bytes], into: IO[bytes]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
        into.write(chunk)
    return digest.hexdigest(), size


def _damaged(path: Path) -> InvalidError:
    return InvalidError("backup.archive_invalid", path=str(path))


def target_error(target: Path, error: OSError) -> StorageError:
    return StorageError("backup.target_not_writable", path=str(target), reason=error.strerror or "")
