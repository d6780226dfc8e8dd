"""A client's configuration file: read as it is, backed up before a change, and written atomically."""

import os
from datetime import UTC, datetime
from pathlib import Path

from chie.errors import ConflictError, StorageError, ValidationError
from chie.files import replacing


class ConfigFile:
    """A symbolic link stays a link; its target is read and written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path))  # Path.resolve would raise on a symlink loop

    def read(self) -> str | None:
        """None if the file does not exist. Line endings and a byte order mark are kept."""
        try:
            return self._target.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise ValidationError("connect.file_not_utf8", path=str(self.path)) from error
        except OSError as error:
            raise self._unusable(error) from error

    def back_up(self) -> Path | None:
        """A copy next to the file, with the same permissions; None if there is nothing to copy."""
        text = self.read()
        if text is None:
            return None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        copy = self._target.with_name(f"{self._target.name}.{stamp}.chie-backup")
        self._put(copy, text)
        return copy

    def write(self, text: str | None, *, seen: str | None) -> None:
        """Raises ConflictError if the content is no longer `seen`: clients write these files too."""
        if self.read() != seen:
            raise ConflictError("connect.file_changed", path=str(self.path))
        if text is None:
            self._target.unlink()
        else:
            self._put(self._target, text)

    def _put(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            mode = self._target.stat().st_mode & 0o777 if self._target.exists() else 0o600
            with replacing(path) as draft:
                draft.write_bytes(text.encode("utf-8"))
                draft.chmod(mode)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StorageError:
        return StorageError("connect.file_unusable", path=str(self.path), reason=error.strerror or "")
