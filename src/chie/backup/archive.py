"""One archive: a zip with a list of what is in it, and the means to tell whether it is whole."""

import hashlib
import os
import re
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from pydantic import BaseModel, Field, ValidationError

from chie import __version__
from chie.errors import StorageError
from chie.errors import ValidationError as InvalidError

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK = 1 << 20

_NAME = re.compile(r"(?:databases|home)(?:/[^/\\\x00]+)+")


class Item(BaseModel):
    sha256: str
    size: int
    mode: int = 0o600


class Manifest(BaseModel):
    """`notes_schema`, `sessions_schema` and `counts` are its database's; of older ones with two, the newest and all."""

    format: int = FORMAT
    chie: str = __version__
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    notes_schema: int = 0
    sessions_schema: str | None = None
    counts: dict[str, int] = {}
    items: dict[str, Item] = {}


def write_archive(target: Path, sources: Mapping[str, Path], manifest: Manifest) -> Manifest:
    """All of it, read again and found to be the same, or nothing: `target` appears when it is whole."""
    partial = target.with_name(f"{target.name}.partial")
    try:
        partial.unlink(missing_ok=True)  # what lies there may lead elsewhere, or be open to others
        with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as out:
            items = _pack(out, sources, manifest)
            out.flush()
            os.fsync(out.fileno())
        manifest = manifest.model_copy(update={"items": items})
        verify(partial)
        partial.replace(target)
    except OSError as error:
        raise StorageError(
            f"{target} cannot be written: {error.strerror}. Choose another place with enough room."
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return manifest


def _pack(out: IO[bytes], sources: Mapping[str, Path], manifest: Manifest) -> dict[str, Item]:
    items: dict[str, Item] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, path in sources.items():
            try:
                source = path.open("rb")
            except FileNotFoundError:
                if name.startswith("home/"):  # somebody tidied it away since it was listed
                    continue
                raise
            with source, archive.open(name, "w", force_zip64=True) as into:
                digest, size = _copy(source, into)
                mode = os.fstat(source.fileno()).st_mode & 0o777
            items[name] = Item(sha256=digest, size=size, mode=mode)
        whole = manifest.model_copy(update={"items": items})
        archive.writestr(MANIFEST, whole.model_dump_json(indent=2))
    return items


def verify(path: Path, *, into: Path | None = None) -> Manifest:
    """The list of an archive every byte of which is as it was written; unpacked below `into`, if that is given."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path)
            for name, item in manifest.items.items():
                _check(archive, name, item, into)
    except (zipfile.BadZipFile, KeyError, EOFError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
        raise _damaged(path) from error
    except FileNotFoundError as error:
        raise InvalidError(f"{path} does not exist. Name a file that chie backup has written.") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error
    return manifest


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(archive.read(MANIFEST))
    except ValidationError as error:
        raise _damaged(path) from error
    if manifest.format > FORMAT:
        raise InvalidError(
            f"{path} was written by a newer Chie ({manifest.chie}; this is {__version__}). Upgrade Chie first."
        )
    if strange := [name for name in manifest.items if not _NAME.fullmatch(name) or ".." in name.split("/")]:
        raise InvalidError(f"{path} names {len(strange)} files outside its folders, so nothing of it was unpacked.")
    return manifest


def _check(archive: zipfile.ZipFile, name: str, item: Item, into: Path | None) -> None:
    target = into / name if into else Path(os.devnull)
    if into:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with archive.open(name) as source, target.open("wb") as out:
        if _copy(source, out) != (item.sha256, item.size):
            raise zipfile.BadZipFile(name)
    if into:
        target.chmod(item.mode & 0o777 | 0o600)


def _copy(source: IO[bytes], into: IO[bytes]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        into.write(chunk)
    return digest.hexdigest(), size


def _damaged(path: Path) -> InvalidError:
    return InvalidError(f"{path} is not a backup of Chie's, or it is damaged. Use another one. Nothing was changed.")
