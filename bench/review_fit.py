"""Fits the constants of `chie/knowledge/review/verdict.py` on the labelled pairs of `bench/sets/dev`, and checks them
with each batch of pairs held out in turn. The test set is never read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.review import Pair, Words, measured, pairs
from chie.knowledge.review import verdict
from chie.knowledge.review.compare import Comparison, Features
from chie.knowledge.review.text import Text

PENALTY = 0.1  # of large weights
ROUNDS = 5  # the conflict of a pair that counts is the one that the last fit rates highest
START = (-1, 3, -2, -2, 2, -1, -2, 0, -2, 1, 1, 1)


@dataclass(frozen=True)
class Row:
    pair: Pair
    features: Features


def main() -> None:
    words = Words()
    found = [Row(pair, _features(pair, words)) for pair in pairs("dev")]
    rows = [row for row in found if row.features.cosine >= verdict.MIN_COSINE]
    weights = fit(rows)
    print("CONFLICT_WEIGHTS =", tuple(round(float(weight), 2) for weight in weights[0]))
    print("DUPLICATE_WEIGHTS =", tuple(round(float(weight), 2) for weight in weights[1]))
    guesses: dict[Pair, str] = {}
    for batch in sorted({row.pair.batch for row in found}):
        fitted = fit([row for row in rows if row.pair.batch != batch])
        guesses |= {row.pair: label(row.features, fitted) for row in found if row.pair.batch == batch}
    for name, guess in (("fitted", {row.pair: label(row.features, weights) for row in found}), ("batches", guesses)):
        for kind in ("duplicate", "contradiction"):
            precision, recall = measured(guess, kind)
            print(f"{name:7} {kind:14} precision {precision:.3f} recall {recall:.3f}")


def label(features: Features, weights: tuple[Sequence[float], Sequence[float]]) -> str:
    if features.cosine < verdict.MIN_COSINE:
        return "neither"
    found = verdict.of_features(features, *weights)
    return found.verdict if found else "neither"


def fit(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    conflict_weights: list[float] = list(START)
    for _ in range(ROUNDS):
        conflicts, wrong = [], []
        for row in rows:
            _, conflict = verdict.strongest(row.features, conflict_weights)
            if conflict:
                conflicts.append(verdict.conflict_row(row.features, conflict))
                wrong.append(row.pair.label == "contradiction")
        conflict_weights = _regression(conflicts, wrong)
    duplicates = [
        verdict.duplicate_row(row.features, verdict.strongest(row.features, conflict_weights)[0]) for row in rows
    ]
    return conflict_weights, _regression(duplicates, [row.pair.label == "duplicate" for row in rows])


def _regression(rows: Sequence[Sequence[float]], labels: Sequence[bool]) -> list[float]:
    """Logistic regression by Newton's method."""
    matrix, wanted = np.array(rows, float), np.array(labels, float)
    weights = np.zeros(matrix.shape[1])
    penalty = np.eye(len(weights)) * PENALTY
    penalty[0, 0] = 1e-3
    for _ in range(60):
        expected = 1 / (1 + np.exp(-matrix @ weights))
        gradient = matrix.T @ (wanted - expected) - penalty @ weights
        curvature = (matrix * (expected * (1 - expected))[:, None]).T @ matrix + penalty
        weights += np.linalg.solve(curvature, gradient)
    return [float(weight) for weight in weights]


def _features(pair: Pair, words: Words) -> Features:
    cosine = words.likeness(pair.a, pair.b)
    return Comparison(Text("", pair.a), Text("", pair.b), cosine=cosine, likeness=words.likeness).features()


if __name__ == "__main__":
    main()
