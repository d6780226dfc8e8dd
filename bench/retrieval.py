"""Is the right note found? Meaning alone, words alone and both, on fifty notes of developers in two languages."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

Rank = Callable[[str], Sequence[str]]

KINDS = {"ja-ja": "JP→JP", "en-en": "EN→EN", "ja-en": "JP→EN", "en-ja": "EN→JP", "words": "exact words"}


class NoEmbedder(Embedder):
    """Leaves the store with words alone."""

    @property
    def id(self) -> str:
        return "none"

    def embed(self, texts: Sequence[str]) -> "Vectors":  # noqa: ARG002
        raise EmbeddingError("switched off for the comparison")


def cases() -> tuple[list[str], list[tuple[str, str, str]], list[str]]:
    """Notes; questions as kind, text and the note that answers; questions that nothing answers."""
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


def quality(rank: Rank, asked: Sequence[tuple[str, str, str]]) -> str:
    places = [_place(rank(query), note) for _, query, note in asked]
    shares = (np.mean([p == 1 for p in places]), np.mean([p <= 5 for p in places]), np.mean([1 / p for p in places]))
    return "/".join(f"{share:.2f}" for share in shares)


def _place(found: Sequence[str], note: str) -> float:
    return found.index(note) + 1 if note in found else float("inf")


def rows(folder: Path) -> Iterator[list[str]]:
    notes, asked, unanswerable = cases()
    embedder = OnnxEmbedder()
    ways = {
        "meaning alone (cosine)": by_meaning(notes, embedder),
        "words alone (BM25 of pairs)": by_store(notes, NoEmbedder(), folder / "words"),
        "**both, as Chie searches**": by_store(notes, embedder, folder / "both"),
    }
    for name, rank in ways.items():
        groups = [[case for case in asked if case[0] == kind] for kind in KINDS]
        silent = sum(not rank(query) for query in unanswerable)
        yield [name, *(quality(rank, group) for group in (*groups, asked)), f"{silent}/{len(unanswerable)}"]


def main() -> None:
    print("recall@1 / recall@5 / mean reciprocal rank; last column: unanswerable questions that stay unanswered\n")
    print("| search | " + " | ".join(KINDS.values()) + " | all | none |")
    print("|---" * (len(KINDS) + 3) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
