"""Search quality on the labelled notes of `bench/sets/test`, through the service, against words and meaning alone.

    python -m bench.retrieval --sizes 50,300,5000,100000 --cache /var/tmp/vectors

--sizes     numbers of notes for which confidence is measured; beyond 300 they are paragraphs of installed documentation
--filler    a JSON list of texts to take instead of installed documentation
--cache     a folder for vectors, so that the next run is faster
--squad     a folder with sets in the format of SQuAD (JSQuAD, JaQuAD, XQuAD), measured too
--set       `dev` while choosing constants; figures are published for `test`
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.baselines import Rank, as_note, by_meaning, by_words
from bench.figure import Figure
from bench.filler import fillers
from bench.labelled import WORDS, LabelledNote, LabelledSet, Question, own, sample, squad
from bench.table import SHARE, table
from bench.vector_cache import CachedEmbedder
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.note import Hit
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

KINDS = {"ja-ja": "JP→JP", "en-en": "EN→EN", "ja-en": "JP→EN", "en-ja": "EN→JP", WORDS: "exact words"}
FIVE = 5
MEANING, BM25, CHIE, WITH_QUESTIONS = "meaning alone", "words alone", "Chie", "Chie, notes with questions"
AIM = 0.9
BATCH = 500


class Asked(NamedTuple):
    """What a search returned: the labelled note's id of each hit, and the hits."""

    ids: Sequence[str]
    hits: Sequence[Hit]


class Notes:
    """Labelled notes in a SQLite store, searched through the service."""

    def __init__(self, folder: Path, embedder: Embedder, notes: Sequence[LabelledNote]) -> None:
        folder.mkdir(parents=True)
        self._store = SqliteStore(folder / "notes.db", embedder)
        self._service = KnowledgeService(self._store)
        self.add(notes)

    def add(self, notes: Sequence[LabelledNote]) -> None:
        for at in range(0, len(notes), BATCH):
            self._store.put_copies([as_note(note) for note in notes[at : at + BATCH]])

    def search(self, query: str) -> Asked:
        hits = self._service.search(query).hits
        return Asked([hit.id for hit in hits], hits)

    def ids(self, query: str) -> list[str]:
        return list(dict.fromkeys(self.search(query).ids))

    def close(self) -> None:
        self._store.close()


def cases() -> tuple[list[str], list[tuple[str, str, str]], list[str]]:
    """Notes; questions as kind, text and the note that answers; questions without an answer."""
    labelled = own("test")
    contents = {note.id: note.content for note in labelled.notes}
    asked = [(question.kind, question.text, contents[question.note]) for question in labelled.asked]
    return list(contents.values()), asked, list(labelled.unanswerable)


def quality(ways: Mapping[str, Rank]) -> Iterator[Figure]:
    """How often the right note comes first, and how often it is among the first five. `ways` return contents."""
    _, asked, _ = cases()
    yield from _by_kind(ways, [Question(text, kind, content) for kind, text, content in asked])


def _by_kind(ways: Mapping[str, Rank], asked: Sequence[Question]) -> Iterator[Figure]:
    for who, rank in ways.items():
        ranks = [(question.kind, _position(rank(question.text), question.note)) for question in asked]
        for kind, name in {**KINDS, "": "all"}.items():
            yield from _first_and_five(name, who, [position for of, position in ranks if kind in ("", of)])


def _first_and_five(name: str, who: str, positions: Sequence[float]) -> Iterator[Figure]:
    for what, most in ((f"{name}, found first", 1), (f"{name}, among five", FIVE)):
        yield Figure(what, who, float(np.mean([position <= most for position in positions])), SHARE)


def _position(found: Sequence[str], note: str) -> float:
    return found.index(note) + 1 if note in found else float("inf")


def notes_and_questions(labelled: LabelledSet, embedder: Embedder, folder: Path) -> Iterator[Figure]:
    unasked = [replace(note, questions=()) for note in labelled.notes]
    plain = Notes(folder / "plain", embedder, unasked)
    asked = Notes(folder / "questions", embedder, labelled.notes)
    ways = {
        MEANING: by_meaning(unasked, embedder),
        BM25: by_words(unasked),
        CHIE: plain.ids,
        WITH_QUESTIONS: asked.ids,
    }
    yield from _by_kind(ways, labelled.asked)
    plain.add(labelled.long_notes)
    yield from passages(labelled, plain)
    plain.close()
    asked.close()


def passages(labelled: LabelledSet, notes: Notes) -> Iterator[Figure]:
    """Whether the hit of a long note shows the part that answers."""
    shown = []
    for question in labelled.long_asked:
        found = notes.search(question.text)
        hit = found.hits[found.ids.index(question.note)] if question.note in found.ids else None
        shown.append(hit is not None and _answers(hit.content, question.answer))
    yield Figure(f"{len(shown)} questions on long notes, the answer is shown", CHIE, float(np.mean(shown)), SHARE, AIM)


def _answers(content: str, answer: str) -> bool:
    """The middle half counts: a passage may end within the answer's last words."""
    return answer[len(answer) // 4 : -(len(answer) // 4) or None] in content


def confidence(labelled: LabelledSet, size: int, embedder: Embedder, folder: Path, filler: Path | None) -> list[Figure]:
    chosen = sample(labelled, min(size, len(labelled.notes) // 10 * 10))
    notes = Notes(folder / str(size), embedder, [replace(note, questions=()) for note in chosen.notes])
    others = fillers(size - len(chosen.notes), filler) if size > len(chosen.notes) else []
    notes.add([LabelledNote(f"filler-{at}", text) for at, text in enumerate(others)])
    right = [(notes.search(question.text), question.note) for question in chosen.asked]
    confident = [any(own == note and hit.confident for own, hit in zip(*found, strict=True)) for found, note in right]
    silent = [not any(hit.confident for hit in notes.search(text).hits) for text in chosen.unanswerable]
    notes.close()
    shares = {
        "answerable, found": ([note in found.ids for found, note in right], AIM),
        "unanswerable, no confident hit": (silent, AIM),
        "answerable, found and confident": (confident, None),
    }
    return [
        Figure(f"{size:,} notes, {what}", CHIE, float(np.mean(outcomes)), SHARE, aim)
        for what, (outcomes, aim) in shares.items()
    ]


def third_party(labelled: LabelledSet, embedder: Embedder, folder: Path) -> Iterator[Figure]:
    notes = Notes(folder / f"squad-{labelled.name}", embedder, labelled.notes)
    ways = {MEANING: by_meaning(labelled.notes, embedder), BM25: by_words(labelled.notes), CHIE: notes.ids}
    name = f"{labelled.name}, {len(labelled.asked):,} questions"
    for who, rank in ways.items():
        positions = [_position(rank(question.text), question.note) for question in labelled.asked]
        yield from _first_and_five(name, who, positions)
    notes.close()


def measure(options: argparse.Namespace, folder: Path) -> Iterator[Figure]:
    embedder: Embedder = OnnxEmbedder()
    if options.cache:
        embedder = CachedEmbedder(embedder, options.cache)
    labelled = own(options.set)
    yield from notes_and_questions(labelled, embedder, folder)
    for size in map(int, options.sizes.split(",")):
        yield from confidence(labelled, size, embedder, folder, options.filler)
    for other in squad(options.squad) if options.squad else ():
        yield from third_party(other, embedder, folder)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="50,300")
    parser.add_argument("--set", default="test", choices=("dev", "test"))
    for name in ("--filler", "--cache", "--squad"):
        parser.add_argument(name, type=Path)
    options, _ = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return list(measure(options, Path(folder)))


if __name__ == "__main__":
    print(table(main()))
