"""Decides from the features of a pair of notes, and from what the pair model reads in them, whether they repeat or
contradict each other.

A regression with three outcomes over both: the features are sure of numbers, scopes and dates, the model of what
sentences mean. `python -m bench.review_fit` fits it, on pairs that the model was not trained on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

from chie.knowledge.review import pair_model
from chie.knowledge.review.compare import Comparison, Conflict, Features, Likeness
from chie.knowledge.review.pair_model import Probabilities
from chie.knowledge.review.text import Text
from chie.unicode import fold

Verdict = Literal["duplicate", "contradiction"]
Weights = Mapping[str, tuple[float, float]]

MIN_COSINE = 0.35  # pairs of notes below this are not compared; vectors differ by some .01 between processors
CERTAIN = 0.92  # notes that the model rates "neither" so highly are not compared further
# Of the features in `conflict_row`, in their order.
CONFLICT_WEIGHTS = (2.24, -0.49, -0.21, -3.52, -0.04, 0.24, -4.26, -0.76, -1.75, 2.23, -0.65, 1.22)
# Of the features in `evidence`: for a duplicate, and for a contradiction.
WEIGHTS: Weights = {
    "always": (-1.99, -0.68),
    "model: duplicate": (1.09, 0.22),
    "model: contradiction": (-0.10, 0.70),
    "cosine": (4.33, 3.36),
    "openings": (-1.66, -0.73),
    "counterpart": (0.22, -1.00),
    "covered": (1.02, 0.25),
    "both covered": (-0.68, 0.05),
    "apart": (-0.02, 0.14),
    "names": (0.05, -0.08),
    "names apart": (-0.07, 0.02),
    "measured": (0.71, 0.11),
    "values apart": (-0.57, -0.77),
    "values agree": (0.43, -0.23),
    "dates differ": (-1.57, 1.61),
    "periods differ": (-5.14, -2.13),
    "scopes differ": (-1.67, -1.01),
    "past differs": (0.20, 0.12),
    "denials differ": (-0.22, -0.09),
    "opposites": (-1.05, 0.07),
    "conflict of values": (-1.29, 0.68),
    "conflict of names": (-0.57, 0.21),
    "conflict by negation": (-0.89, -0.01),
    "special": (-0.57, -0.33),
}
MIN_DUPLICATE, MIN_CONTRADICTION = 0.61, 0.61  # probabilities
MIN_NAMED = 0.2  # probability of a conflict that is told as the reason

_KINDS = (("number", "version"), ("name",), ("negation",))
_LEAST = 1e-4  # added to probabilities before their logarithm


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
    read: Callable[[str, str], Probabilities] = pair_model.compared,
) -> Judgement | None:
    """None for notes that are about different things, or complete each other."""
    if cosine < MIN_COSINE:
        return None
    if _plain(a.text) == _plain(b.text):
        return Judgement("duplicate", 1.0)
    model = read(a.text, b.text)
    if model.neither >= CERTAIN:
        return None
    features = Comparison(a, b, cosine=cosine, likeness=likeness).features()
    duplicate, contradiction = probabilities(evidence(features, model), WEIGHTS)
    if contradiction >= max(MIN_CONTRADICTION, duplicate):
        return Judgement("contradiction", contradiction, _conflict(features, a, b, likeness))
    return Judgement("duplicate", duplicate) if duplicate >= MIN_DUPLICATE else None


def _plain(text: str) -> str:
    """Copies are equal in it, and notes that differ in a value are not."""
    return " ".join(fold(text).split()).strip("。.!！ ")


def _conflict(features: Features, a: Text, b: Text, likeness: Likeness) -> Conflict:
    """What is told as the reason: the values or names that differ, else the statements that are most alike."""
    for rating, conflict in _rated(features)[:1]:
        if rating >= MIN_NAMED:
            return conflict
    pairs = [(one.text, other.text) for one in a.statements for other in b.statements]
    here, there = max(pairs, key=lambda pair: likeness(*pair), default=(a.text, b.text))
    return Conflict("statement", here, there, here, there, subject=0, apart=0, topics_apart=0, notes_apart=0)


def _rated(features: Features) -> list[tuple[float, Conflict]]:
    """The conflicts with the probability of each; the most probable one first."""
    rated = [(_logistic(_conflict_row(features, one), CONFLICT_WEIGHTS), one) for one in features.conflicts]
    return sorted(rated, key=lambda pair: pair[0], reverse=True)


def _conflict_row(features: Features, conflict: Conflict) -> list[float]:
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


def evidence(features: Features, model: Probabilities) -> dict[str, float]:
    """What speaks for either verdict, by name."""
    rated = _rated(features)
    best = {kind: max((rating for rating, one in rated if one.difference in kind), default=0.0) for kind in _KINDS}
    return {
        "always": 1.0,
        "model: duplicate": log((model.duplicate + _LEAST) / (model.neither + _LEAST)),
        "model: contradiction": log((model.contradiction + _LEAST) / (model.neither + _LEAST)),
        "cosine": features.cosine,
        "openings": features.openings,
        "counterpart": features.counterpart,
        "covered": features.covered,
        "both covered": features.both_covered,
        "apart": features.apart,
        "names": features.names,
        "names apart": features.names_apart,
        "measured": features.measured,
        "values apart": features.values_apart,
        "values agree": features.values_agree,
        "dates differ": features.dates_differ,
        "periods differ": features.periods_differ,
        "scopes differ": features.scopes_differ,
        "past differs": features.past_differs,
        "denials differ": features.denials_differ,
        "opposites": features.opposites,
        "conflict of values": best[_KINDS[0]],
        "conflict of names": best[_KINDS[1]],
        "conflict by negation": best[_KINDS[2]],
        "special": bool(rated) and rated[0][1].special,
    }


def probabilities(found: Mapping[str, float], weights: Weights) -> tuple[float, float]:
    """Of a duplicate and of a contradiction."""
    odds = [exp(sum(found[name] * weight[which] for name, weight in weights.items())) for which in (0, 1)]
    total = 1 + sum(odds)
    return odds[0] / total, odds[1] / total


def _logistic(row: Sequence[float], weights: Sequence[float]) -> float:
    return 1 / (1 + exp(-sum(value * weight for value, weight in zip(row, weights, strict=True))))
