"""What an evaluation compares: the notes as they are, or a copy of them with another embedding model or setting."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chie.errors import ValidationError
from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.evaluation.score import DEPTH, Search
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

CURRENT, BUILTIN, WORDS = "current", "builtin", "words"
WITHOUT_QUESTIONS = "no-questions"
BATCH = 100

Progress = Callable[[int], None]


class NoEmbedder(Embedder):
    """Leaves search by words alone."""

    @property
    def id(self) -> str:
        return "none"

    def embed(self, texts: Sequence[str]) -> "Vectors":  # noqa: ARG002
        raise EmbeddingError("knowledge.eval_words_only")


@dataclass(frozen=True)
class Candidate:
    """`model` is `current`, `builtin`, `words`, or a model and the URL of its server: `name@https://…/v1`."""

    name: str
    model: str
    questions: bool = True

    @classmethod
    def parse(cls, text: str) -> "Candidate":
        model, *settings = text.split(",")
        known = model in (CURRENT, BUILTIN, WORDS) or "@http" in model
        if not known or set(settings) - {WITHOUT_QUESTIONS}:
            raise ValidationError("knowledge.eval_model_unknown", model=text)
        if model == CURRENT and settings:
            raise ValidationError("knowledge.eval_current_as_it_is")
        return cls(text, model, not settings)

    @contextmanager
    def opened(self, service: KnowledgeService, notes: Sequence[Note], progress: Progress) -> Iterator[Search]:
        """The notes are embedded again, in a temporary file, unless they are searched where they are."""
        if self.model == CURRENT:
            yield lambda query: service.search(query, limit=DEPTH).hits
            return
        from chie.knowledge.store.sqlite.store import SqliteStore

        with tempfile.TemporaryDirectory(prefix="chie-eval-") as folder:
            store = SqliteStore(Path(folder) / "notes.db", self._embedder())
            try:
                for at in range(0, len(notes), BATCH):
                    batch = notes[at : at + BATCH]
                    store.put_copies([note if self.questions else replace(note, questions=[]) for note in batch])
                    progress(len(batch))
                copy = KnowledgeService(store)
                self._require_model(copy)
                yield lambda query: copy.search(query, limit=DEPTH).hits
            finally:
                store.close()

    def _embedder(self) -> Embedder:
        from chie.knowledge.embedding.onnx import OnnxEmbedder
        from chie.knowledge.embedding.openai import OpenAIEmbedder
        from chie.settings import load

        if self.model == WORDS:
            return NoEmbedder()
        if self.model == BUILTIN:
            return OnnxEmbedder()
        model, _, url = self.model.partition("@")
        key = load(KnowledgeSettings).embedding_key
        return OpenAIEmbedder(url, model, api_key=key.get_secret_value() if key else None)

    def _require_model(self, copy: KnowledgeService) -> None:
        """A model that does not respond would silently be evaluated by words alone."""
        notice = copy.search(self.name).notice
        if self.model != WORDS and notice is not None:
            raise ValidationError("knowledge.eval_model_failed", model=self.name, reason=notice)
