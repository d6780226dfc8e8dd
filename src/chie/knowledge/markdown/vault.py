"""Matches the files of an import with the notes that earlier imports created.

A file is recognised by its path in the vault, or by its content if no other file has taken its place: so neither a
renamed file nor another mount point duplicates notes. A vault is recognised by its location or, at a new one, by its
files.
"""

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from chie.knowledge.note import ImportedFile

UPLOADS = "upload"  # the vault of files that were uploaded on the page


def vault_key(folder: Path, user_id: str) -> str:
    return sha256(f"{user_id} {folder.resolve().as_uri()}".encode(errors="surrogateescape")).hexdigest()[:16]


def fingerprint(content: bytes) -> str:
    return sha256(content).hexdigest()


class Vault:
    """`files` are the fingerprints of the files by path, `known` the files of the user's notes by id. Unless the
    files are the `whole` vault, a known file that is not among them may still exist, and an equal one is its copy."""

    def __init__(
        self, key: str, files: Mapping[str, str], known: Mapping[str, ImportedFile], *, whole: bool = True
    ) -> None:
        self._files = files
        self._known = known
        self.key = self._recognised(key)
        own = {note_id: file for note_id, file in known.items() if file.vault == self.key}
        self._by_path = {file.path: note_id for note_id, file in own.items()}
        self._without_file: dict[str, list[str]] = {}
        for note_id, file in known.items():
            if note_id not in own or (whole and file.path not in files):
                self._without_file.setdefault(file.fingerprint, []).append(note_id)
        self._matched = {path: self._match(path, files[path]) for path in sorted(files)}

    def note_id(self, path: str) -> str | None:
        """The note of an earlier import of this file."""
        return self._matched.get(path) or self._by_path.get(path)

    @property
    def paths(self) -> set[str]:
        """The files of this import and of earlier ones."""
        return {*self._files, *self._by_path}

    def previous(self, note_id: str) -> ImportedFile | None:
        return self._known.get(note_id)

    def left(self) -> dict[str, ImportedFile]:
        """Notes whose files are no longer in the vault."""
        taken = set(self._matched.values())
        return {
            note_id: self._known[note_id]
            for path, note_id in sorted(self._by_path.items())
            if path not in self._files and note_id not in taken
        }

    def _match(self, path: str, found: str) -> str | None:
        if path in self._by_path:
            return self._by_path[path]
        candidates = self._without_file.get(found)
        return candidates.pop(0) if candidates else None

    def _recognised(self, key: str) -> str:
        """The key itself or, for an unknown one, that of a vault with which most files are shared. A part of a vault is
        not that vault: the rest would count as gone."""
        sizes = Counter(file.vault for file in self._known.values())
        if key in sizes:
            return key
        contents = set(self._files.values())
        shared = Counter(file.vault for file in self._known.values() if file.fingerprint in contents)
        for vault, number in shared.most_common(1):
            if 2 * number > max(sizes[vault], len(self._files)):
                return vault
        return key
