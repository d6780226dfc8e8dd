"""One run of an import, from a folder or from uploads."""

from chie.errors import ValidationError
from chie.knowledge.note import Note
from chie.knowledge.service import ImportOutcome, KnowledgeService
from chie.knowledge.validation import valid_id


class ImportRun:
    """Rejects a second file for the same note, which would silently replace the first."""

    def __init__(self, service: KnowledgeService, *, overwrite: bool = False) -> None:
        self._service = service
        self._overwrite = overwrite
        self._names: dict[str, str] = {}

    def add(self, name: str, note: Note) -> ImportOutcome:
        note_id = valid_id(note.id)
        if other := self._names.get(note_id):
            raise ValidationError("knowledge.import_duplicate", other=other)
        outcome = self._service.import_note(note, overwrite=self._overwrite)
        self._names[note_id] = name
        return outcome
