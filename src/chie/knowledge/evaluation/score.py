"""Replays cases and tells how well search answers them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chie.knowledge.evaluation.cases import Case
from chie.knowledge.note import Hit

DEPTH = 10  # hits that are looked at
FIVE = 5

Search = Callable[[str], Sequence[Hit]]


@dataclass(frozen=True, kw_only=True)
class Score:
    """Shares from 0 to 1; None if there is no case of that kind. `recall1` and `recall5` are the shares of questions
    whose note comes first and among the first five, `mrr` is the mean of 1/rank, and `no_answer` the share of questions
    without a note for which search has nothing that it is confident of."""

    name: str
    answerable: int
    unanswerable: int
    recall1: float | None
    recall5: float | None
    mrr: float | None
    no_answer: float | None


def evaluate(name: str, search: Search, cases: Sequence[Case]) -> Score:
    ranks = [_rank(search(case.query), case.note) for case in cases if case.note is not None]
    silent = [not any(hit.confident for hit in search(case.query)) for case in cases if case.note is None]
    return Score(
        name=name,
        answerable=len(ranks),
        unanswerable=len(silent),
        recall1=_mean([rank == 1 for rank in ranks]),
        recall5=_mean([0 < rank <= FIVE for rank in ranks]),
        mrr=_mean([1 / rank if rank else 0.0 for rank in ranks]),
        no_answer=_mean(silent),
    )


def _rank(hits: Sequence[Hit], note: str) -> int:
    """From 1; 0 if the note is not among the hits."""
    return next((at for at, hit in enumerate(hits, start=1) if hit.id == note), 0)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
