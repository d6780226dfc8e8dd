"""One run of an import, from a folder or over the wire."""

from chie.errors import ValidationError
from chie.knowledge.note import Note
from chie.knowledge.rules import good_id
from chie.knowledge.service import KnowledgeService


class Intake:
    """Two files of one run are never one note: the later would replace the earlier, and nobody would know."""

    def __init__(self, service: KnowledgeService) -> None:
        self._service = service
        self._names: dict[str, str] = {}

    def take(self, name: str, note: Note) -> bool:
        """False where it was here already, just so."""
        note_id = good_id(note.id)
        if other := self._names.get(note_id):
            raise ValidationError(
                f"it is the same note as {other} of this import, by its id or its name. Remove one of the two; "
                "if it is another note, rename it or take the id out of its front matter."
            )
        is_new = self._service.keep(note)
        self._names[note_id] = name
        return is_new
