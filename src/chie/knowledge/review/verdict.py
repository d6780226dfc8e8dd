"""Decides from the features of a pair of notes whether they repeat or contradict each other.

Two logistic regressions, fitted on `bench/sets/dev/pairs.jsonl` by `python -m bench.review_fit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

from chie.knowledge.review.compare import Comparison, Conflict, Features, Likeness
from chie.knowledge.review.text import Text

Verdict = Literal["duplicate", "contradiction"]

MIN_COSINE = 0.35  # pairs of notes below this are not compared; vectors differ by some .01 between processors
# Of the features in `conflict_row` and `duplicate_row`, in their order.
CONFLICT_WEIGHTS = (2.24, -0.49, -0.21, -3.52, -0.04, 0.24, -4.26, -0.76, -1.75, 2.23, -0.65, 1.22)
DUPLICATE_WEIGHTS = (
    -14.61,
    12.55,
    3.4,
    -2.43,
    3.11,
    -0.96,
    -1.97,
    -3.68,
    -0.53,
    -0.14,
    0.11,
    -3.55,
    -3.0,
    3.63,
    0.65,
    1.68,
    2.42,
    -0.31,
)
MIN_CONTRADICTION, MIN_DUPLICATE = 0.55, 0.52  # probabilities


@dataclass(frozen=True)
class Judgement:
    """`conflict` is what the notes contradict each other in."""

    verdict: Verdict
    probability: float
    conflict: Conflict | None = None


def judge(
    a: Text,
    b: Text,
    *,
    cosine: float,
    likeness: Likeness,
    weights: tuple[Sequence[float], Sequence[float]] = (CONFLICT_WEIGHTS, DUPLICATE_WEIGHTS),
) -> Judgement | None:
    """None for notes that are about different things, or complete each other."""
    if cosine < MIN_COSINE:
        return None
    features = Comparison(a, b, cosine=cosine, likeness=likeness).features()
    return of_features(features, *weights)


def of_features(
    features: Features, conflict_weights: Sequence[float], duplicate_weights: Sequence[float]
) -> Judgement | None:
    contradiction, conflict = strongest(features, conflict_weights)
    duplicate = probability(duplicate_row(features, contradiction), duplicate_weights)
    if conflict and contradiction >= max(MIN_CONTRADICTION, duplicate):
        return Judgement("contradiction", contradiction, conflict)
    return Judgement("duplicate", duplicate) if duplicate >= MIN_DUPLICATE else None


def strongest(features: Features, weights: Sequence[float]) -> tuple[float, Conflict | None]:
    """The most probable contradiction among the conflicts."""
    rated = [(probability(conflict_row(features, one), weights), one) for one in features.conflicts]
    return max(rated, key=lambda pair: pair[0], default=(0.0, None))


def conflict_row(features: Features, conflict: Conflict) -> list[float]:
    negation = conflict.difference == "negation"
    return [
        1.0,
        conflict.subject,
        conflict.apart,
        max(conflict.topics_apart, conflict.notes_apart),
        features.cosine,
        conflict.unit < 1 and not negation,
        conflict.special,
        conflict.difference == "name",
        negation,
        conflict.subject * negation,
        conflict.unit * negation,
        conflict.single * negation,
    ]


def duplicate_row(features: Features, contradiction: float) -> list[float]:
    denied = [conflict.subject for conflict in features.conflicts if conflict.difference == "negation"]
    return [
        1.0,
        features.cosine,
        features.covered,
        features.both_covered,
        features.apart,
        features.names_apart,
        features.values_apart,
        contradiction,
        max(denied, default=0.0),
        features.past_differs,
        features.denials_differ,
        features.scopes_differ,
        features.openings,
        features.counterpart,
        features.names,
        features.measured,
        features.values_agree,
        features.dates_differ,
    ]


def probability(row: Sequence[float], weights: Sequence[float]) -> float:
    return 1 / (1 + exp(-sum(value * weight for value, weight in zip(row, weights, strict=True))))
