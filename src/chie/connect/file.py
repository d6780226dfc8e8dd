"""One configuration file of somebody else's: read as it is, written whole or not at all, with a copy beforehand."""

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from chie.errors import ConflictError, StorageError, ValidationError


class ConfigFile:
    """A link stays a link: what it leads to is read and written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path))  # Path.resolve would raise where links go in a circle

    def read(self) -> str | None:
        """None where there is no file. Line ends and a byte order mark are kept."""
        try:
            return self._target.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise ValidationError(
                f"{self.path} is not UTF-8 text, so it was left alone. Save it as UTF-8, then try again."
            ) from error
        except OSError as error:
            raise self._unusable(error) from error

    def back_up(self) -> Path | None:
        """A copy beside the file, with its rights; None where there is nothing to copy."""
        text = self.read()
        if text is None:
            return None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        copy = self._target.with_name(f"{self._target.name}.{stamp}.chie-backup")
        self._put(copy, text)
        return copy

    def write(self, text: str | None, *, seen: str | None) -> None:
        """`seen` is what was read: hosts write these files, too, and what they wrote meanwhile is not lost."""
        if self.read() != seen:
            raise ConflictError(f"{self.path} was changed by somebody else just now, so it was left alone. Try again.")
        if text is None:
            self._target.unlink()
        else:
            self._put(self._target, text)

    def _put(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            mode = self._target.stat().st_mode & 0o777 if self._target.exists() else 0o600
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            try:
                with os.fdopen(descriptor, "wb") as out:
                    out.write(text.encode("utf-8"))
                    out.flush()
                    os.fsync(out.fileno())
                Path(name).chmod(mode)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self.path} cannot be used: {error.strerror}. Give this user the right to read and write it."
        )
