"""One run of an import, from a folder or from uploads."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Self

from chie.access.identity import current_user
from chie.errors import ValidationError
from chie.knowledge.markdown import note_file
from chie.knowledge.markdown.obsidian import LinkIndex
from chie.knowledge.markdown.vault import Vault, fingerprint
from chie.knowledge.note import TEAM, ImportedFile, Note, note_uri
from chie.knowledge.rules import chosen_space
from chie.knowledge.screening.screen import SecretPolicy
from chie.knowledge.service import ImportOutcome, KnowledgeService
from chie.knowledge.validation import valid_id

REMEMBER_AFTER = 100  # files


class ImportRun:
    """`files` are the fingerprints of all files by their paths in the vault, `key_of` gives the text from which a
    file's id is derived if no earlier import had the file. Use as a context manager."""

    def __init__(
        self,
        service: KnowledgeService,
        vault: str,
        files: Mapping[str, str],
        *,
        key_of: Callable[[str], str] = str,
        whole: bool = True,
        overwrite: bool = False,
        dry_run: bool = False,
        secrets: SecretPolicy = "refuse",
        space: str | None = None,
    ) -> None:
        self._service = service
        self._key_of = key_of
        self._overwrite = overwrite
        self._dry_run = dry_run
        self._secrets = secrets
        self._space = chosen_space(service.viewer(), space)
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._stored: set[str] = set()
        self._files: dict[str, ImportedFile] = {}
        self.vault = Vault(vault, files, service.imported_files(), whole=whole)
        self._links = LinkIndex(self.vault.paths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._remember()

    def note(self, path: str, file: note_file.File) -> Note:
        """The file as a note. One that is stored keeps the fields that the file does not have, and its version if
        nothing else has changed. ValidationError for a file that cannot become a note."""
        parsed = note_file.parse_file(file, source=path, owner=current_user().id, resolve=self._resolve)
        note_id = parsed.note.id or self._id(path, parsed.note.user_id)
        stored = self._service.find(valid_id(note_id))
        if stored is None:
            space = self._space if parsed.note.space == TEAM else parsed.note.space
            return replace(parsed.note, id=note_id, space=space)
        self._stored.add(note_id)
        note = parsed.over(stored)
        same = replace(note, updated_at=stored.updated_at)
        return same if same == stored and "created_at" in parsed.missing else note

    def was_stored(self, note: Note) -> bool:
        """Whether the file changes a note, of which it makes a new version."""
        return note.id in self._stored

    def add(self, name: str, path: str, note: Note, content: bytes) -> ImportOutcome:
        """Rejects a second file for the same note, which would silently replace the first."""
        note_id = valid_id(note.id)
        if other := self._names.get(note_id):
            raise ValidationError("knowledge.import_duplicate", other=other)
        mark, previous = fingerprint(content), self.vault.previous(note_id)
        outcome, version = self._service.import_file(
            note,
            fingerprint=mark,
            previous=previous,
            overwrite=self._overwrite,
            dry_run=self._dry_run,
            secrets=self._secrets,
            first_line=note_file.first_line(content),
        )
        self._names[note_id] = name
        file = ImportedFile(vault=self.vault.key, path=path, fingerprint=mark, version=version)
        if not self._dry_run and file != previous:
            self._files[note_id] = file
            if len(self._files) >= REMEMBER_AFTER:
                self._remember()
        return outcome

    def _remember(self) -> None:
        if self._files:
            self._service.store.remember_files(self._files)
            self._files = {}

    def _id(self, path: str, author: str) -> str:
        if path not in self._ids:
            is_free = partial(self._service.may_use_id, author=author)
            known = self.vault.note_id(path)
            self._ids[path] = known or note_file.derived_id(self._key_of(path), current_user().id, is_free)
        return self._ids[path]

    def _resolve(self, target: str) -> str | None:
        path = self._links.find(target)
        return None if path is None else note_uri(self._id(path, current_user().id))
