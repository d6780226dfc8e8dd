"""Encryption of secrets at rest. The key is a file in `CHIE_HOME` that only its owner can read; no backup has it."""

from pathlib import Path

from chie.database.errors import folder_error
from chie.files import locked, make_folder, replacing

KEY_FILE = "secret.key"


class SecretBox:
    """Encrypts texts. The key is created when the first one is stored."""

    def __init__(self, home: Path) -> None:
        self._file = home / KEY_FILE

    def encrypt(self, text: str) -> str:
        from cryptography.fernet import Fernet

        return Fernet(self._key()).encrypt(text.encode()).decode()

    def decrypt(self, token: str) -> str | None:
        """None if the text was encrypted with another key, as after restoring a backup on another machine."""
        from cryptography.fernet import Fernet, InvalidToken

        try:
            return Fernet(self._file.read_bytes().strip()).decrypt(token.encode()).decode()
        except (OSError, InvalidToken, ValueError):
            return None

    def _key(self) -> bytes:
        """Several processes may start together, so the file is created under a lock."""
        from cryptography.fernet import Fernet

        try:
            make_folder(self._file.parent)
            with locked(self._file.with_suffix(".lock")):
                if not self._file.exists():
                    with replacing(self._file) as draft:
                        draft.write_bytes(Fernet.generate_key())
                return self._file.read_bytes().strip()
        except OSError as error:
            raise folder_error(error, self._file.parent) from error
