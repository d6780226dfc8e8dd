"""Search quality by meaning alone, by words alone and by both, on fifty developers' notes in two languages."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.figure import Figure
from bench.table import SHARE, table
from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

Rank = Callable[[str], Sequence[str]]

KINDS = {"ja-ja": "JP→JP", "en-en": "EN→EN", "ja-en": "JP→EN", "en-ja": "EN→JP", "words": "exact words"}
FIVE = 5


class NoEmbedder(Embedder):
    """Makes the store search by words only."""

    @property
    def id(self) -> str:
        return "none"

    def embed(self, texts: Sequence[str]) -> "Vectors":  # noqa: ARG002
        raise EmbeddingError("switched off for the comparison")


def cases() -> tuple[list[str], list[tuple[str, str, str]], list[str]]:
    """Notes; questions as kind, text and the note that answers; questions without an answer."""
    lines = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()]
    notes = [line["note"] for line in lines if "note" in line]
    asked = [(kind, text, line["note"]) for line in lines for kind, text in line.get("ask", {}).items()]
    return notes, asked, lines[-1]["none"]


def by_meaning(notes: Sequence[str], embedder: Embedder) -> Rank:
    matrix = embedder.embed(notes)
    return lambda query: [notes[at] for at in np.argsort(-(matrix @ embedder.embed([query])[0]))[:10]]


def by_store(notes: Sequence[str], embedder: Embedder, folder: Path) -> Rank:
    service = KnowledgeService(SqliteStore(folder / "notes.db", embedder))
    for note in notes:
        service.save(note)
    return lambda query: [hit.content for hit in service.search(query).hits]


def quality(ways: Mapping[str, Rank]) -> Iterator[Figure]:
    """How often the right note comes first, and how often it is among the first five."""
    _, asked, unanswerable = cases()
    for who, rank in ways.items():
        ranks = [(kind, _rank(rank(query), note)) for kind, query, note in asked]
        for kind, name in {**KINDS, "": "all"}.items():
            own = [position for of, position in ranks if kind in ("", of)]
            yield Figure(f"{name}, found first", who, float(np.mean([position == 1 for position in own])), SHARE)
            yield Figure(f"{name}, among five", who, float(np.mean([position <= FIVE for position in own])), SHARE)
        silent = sum(not rank(query) for query in unanswerable)
        yield Figure(f"{len(unanswerable)} questions without an answer, left unanswered", who, silent)


def _rank(found: Sequence[str], note: str) -> float:
    return found.index(note) + 1 if note in found else float("inf")


def main() -> list[Figure]:
    notes, embedder = cases()[0], OnnxEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "meaning alone": by_meaning(notes, embedder),
            "words alone": by_store(notes, NoEmbedder(), Path(folder) / "words"),
            "Chie": by_store(notes, embedder, Path(folder) / "both"),
        }
        return list(quality(ways))


if __name__ == "__main__":
    print(table(main()))
