"""One run of an import, from a folder or over the wire."""

from chie.errors import ValidationError
from chie.knowledge.note import Note
from chie.knowledge.rules import good_id
from chie.knowledge.service import Kept, KnowledgeService


class Intake:
    """Two files of one run are never one note: the later would replace the earlier, and nobody would know."""

    def __init__(self, service: KnowledgeService, *, overwrite: bool = False) -> None:
        self._service = service
        self._overwrite = overwrite
        self._names: dict[str, str] = {}

    def take(self, name: str, note: Note) -> Kept:
        note_id = good_id(note.id)
        if other := self._names.get(note_id):
            raise ValidationError(
                f"it is the same note as {other} of this import, by its id or its name. Remove one of the two; "
                "if it is another note, rename it or take the id out of its front matter."
            )
        kept = self._service.keep(note, overwrite=self._overwrite)
        self._names[note_id] = name
        return kept
