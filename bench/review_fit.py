"""Fits the weights of `chie/knowledge/review/verdict.py` on pairs of the dev set that the pair model was not trained
on, and checks them with each batch held out in turn. The single pairs are reported, which are like those of the test
set; the groups have many more pairs that differ in one word. The test set is never read.
"""

import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bench.pair_model.examples import LABELS, Example, drawn, grouped, groups, single
from bench.pair_model.variations import VARIATIONS, variations
from bench.review import Words
from chie.knowledge.review import pair_model, verdict
from chie.knowledge.review.compare import Comparison
from chie.knowledge.review.text import Text

PENALTY = 0.003  # of large weights
SINGLE, VARIED = 10.0, 0.5  # how much these pairs count, against one of a group
STEPS, RATE = 1_500, 1.0
STEP = 0.02  # between two thresholds


@dataclass(frozen=True)
class Row:
    label: int
    batch: str
    weight: float
    evidence: dict[str, float]


def main() -> None:
    pick = random.Random(7)
    examples = single(held=True) + drawn(grouped(held=True), random.Random(1))
    examples += [one for group in groups() if group["held"] for one in variations(group, pick)]
    with ProcessPoolExecutor() as pool:
        rows = [row for row in pool.map(_row, examples, chunksize=50) if row is not None]
    total = [sum(one.label == which and _weight(one) == SINGLE for one in examples) for which in (0, 1, 2)]
    for name, (duplicate, contradiction) in fit(rows).items():
        print(f'    "{name}": ({duplicate:.2f}, {contradiction:.2f}),')
    held = np.zeros((len(rows), 2))
    for batch in sorted({row.batch for row in rows}):
        weights = fit([row for row in rows if row.batch != batch])
        for at, row in enumerate(rows):
            if row.batch == batch:
                held[at] = verdict.probabilities(row.evidence, weights)
    alone = np.array([row.weight == SINGLE for row in rows])
    _report(held[alone], np.array([row.label for row in rows])[alone], total)


@cache
def _words() -> Words:
    """One for each process."""
    return Words()


def _row(example: Example) -> Row | None:
    """None for a pair that `judge` would not get as far with."""
    words = _words()
    cosine = words.likeness(example.a, example.b)
    read = pair_model.compared(example.a, example.b)
    if cosine < verdict.MIN_COSINE or read.neither >= verdict.CERTAIN:
        return None
    features = Comparison(Text("", example.a), Text("", example.b), cosine=cosine, likeness=words.likeness).features()
    return Row(example.label, example.batch, _weight(example), verdict.evidence(features, read))


def _weight(example: Example) -> float:
    return VARIED if example.batch == VARIATIONS else 1.0 if example.group else SINGLE


def fit(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """A regression with three outcomes, by gradient descent over values of mean 0 and deviation 1."""
    names = list(rows[0].evidence)
    values = np.array([[row.evidence[name] for name in names] for row in rows], float)
    mean, deviation = values.mean(0), values.std(0) + 1e-6
    mean[0], deviation[0] = 0, 1  # the first one is always 1
    scaled = (values - mean) / deviation
    wanted = np.eye(3)[[row.label for row in rows]]
    shares = np.array([[row.weight] for row in rows])
    shares /= shares.sum()
    weights = np.zeros((len(names), 3))
    penalty = np.full((len(names), 1), PENALTY)
    penalty[0] = 0
    for _ in range(STEPS):
        odds = np.exp(scaled @ weights)
        expected = odds / odds.sum(1, keepdims=True)
        weights += RATE * (scaled.T @ ((wanted - expected) * shares) - penalty * weights)
    weights = (weights - weights[:, :1]) / deviation[:, None]
    weights[0] -= (mean[:, None] * weights).sum(0)
    return {name: (float(one[1]), float(one[2])) for name, one in zip(names, weights, strict=True)}


def _report(held: Any, labels: Any, total: Sequence[int]) -> None:
    """Precision and recall at each threshold, where the other verdict is not more probable."""
    for which in (1, 2):
        mine, other = held[:, which - 1], held[:, 2 - which]
        for least in np.arange(0.3, 0.96, STEP):
            said = (mine >= least) & (mine >= other)
            right = int((labels[said] == which).sum())
            precision, recall = right / max(int(said.sum()), 1), right / total[which]
            print(f"{LABELS[which]:14} {least:.2f}: precision {precision:.3f} recall {recall:.3f}")


if __name__ == "__main__":
    main()
