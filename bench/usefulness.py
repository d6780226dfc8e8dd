"""Whether a bonus for notes that were opened often would put the right note first more often.

    python -m bench.usefulness

On the `dev` set, with simulated clicks: the questions of one half are searched, and people open the right note if it is
among the first five, less often further down, and now and then a wrong one. The other half is measured with
`score + bonus * log(1 + opened)`. People ask for all notes alike, or for few notes often (Zipf), where a bonus could
help.
Hits with the same score are ordered by what the score does not show; they are taken to differ by TIE.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p
from pathlib import Path

from bench.figure import Figure
from bench.labelled import LabelledSet, Question, own
from bench.retrieval import Notes
from bench.table import SHARE, table
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.note import Hit

BONUSES = (0.0, 0.005, 0.01, 0.02, 0.05)
ASKED = 2_000  # simulated searches before the measurement, and as many in it
FIVE = 5
WRONG = 0.1  # of the searches that open something, this many open a wrong note
SEED = 16
TIE = 0.03  # a small difference between the first two hits


def measure(labelled: LabelledSet | None = None) -> list[Figure]:
    labelled = labelled or own("dev")
    with tempfile.TemporaryDirectory() as folder:
        notes = Notes(Path(folder) / "notes", OnnxEmbedder(), labelled.notes)
        hits = {question: notes.search(question.text).hits for question in labelled.asked}
        notes.close()
    return [
        figure
        for who, exponent in (("all notes asked for alike", 0.0), ("few notes asked for often", 1.0))
        for figure in _figures(who, exponent, labelled, hits)
    ]


def _figures(who: str, exponent: float, labelled: LabelledSet, hits: Mapping[Question, Sequence[Hit]]) -> list[Figure]:
    chance = random.Random(SEED)
    ids = [note.id for note in labelled.notes]
    chance.shuffle(ids)
    popularity = {note_id: 1 / (rank**exponent) for rank, note_id in enumerate(ids, start=1)}
    halves = (labelled.asked[::2], labelled.asked[1::2])
    before, after = (chance.choices(half, [popularity[question.note] for question in half], k=ASKED) for half in halves)
    opened = Counter(_opened(question, hits[question], chance) for question in before)
    return [
        Figure(who, f"bonus {bonus:g}" if bonus else "no bonus", _first(after, hits, opened, bonus), SHARE)
        for bonus in BONUSES
    ]


def _opened(question: Question, hits: Sequence[Hit], chance: random.Random) -> str | None:
    shown = [hit.id for hit in hits[:FIVE]]
    if not shown:
        return None
    if chance.random() < WRONG:
        return chance.choice(shown)
    rank = shown.index(question.note) + 1 if question.note in shown else 0
    return question.note if rank and chance.random() < 1 / rank else None


def _first(
    asked: Sequence[Question], hits: Mapping[Question, Sequence[Hit]], opened: Counter[str | None], bonus: float
) -> float:
    def best(found: Sequence[Hit]) -> str | None:
        values, last = dict[str, float](), 2.0
        for hit in found:
            last = min(hit.score, last - TIE) if hit.score >= last else hit.score
            values[hit.id] = last + bonus * log1p(opened[hit.id])
        return max(values, key=lambda note_id: values[note_id], default=None)

    chosen = {question: best(hits[question]) for question in set(asked)}
    return sum(chosen[question] == question.note for question in asked) / len(asked)


if __name__ == "__main__":
    print(table(measure()))
