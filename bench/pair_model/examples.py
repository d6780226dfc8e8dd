"""Labelled pairs of the dev set: single pairs, and groups of notes from which pairs are drawn."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

from bench.review import SETS

LABELS = ("neither", "duplicate", "contradiction")
HELD_OUT = frozenset(f"calibration-{number}" for number in range(4, 13))  # batches of single pairs
DRAWN = (3, 5, 6)  # pairs of each label that a group gives to one round
NEAR, MIN_NEAR, MAX_NEAR = 2_500, 0.35, 0.6  # pairs of notes of different groups, and their cosine
COMPARED = 2_000  # notes among which near ones are looked for


@dataclass(frozen=True)
class Example:
    a: str
    b: str
    label: int
    batch: str
    group: str = ""

    @property
    def swapped(self) -> "Example":
        return Example(self.b, self.a, self.label, self.batch, self.group)


@cache
def groups() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SETS / "dev" / "groups.jsonl").read_text("utf-8").splitlines()]


def single(*, held: bool) -> list[Example]:
    lines = (SETS / "dev" / "pairs.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [
        Example(one["a"], one["b"], LABELS.index(one["label"]), one["batch"])
        for one in found
        if (one["batch"] in HELD_OUT) == held
    ]


def by_group(*, held: bool) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for one in grouped(held=held):
        found.setdefault(one.group, []).append(one)
    return found


def grouped(*, held: bool) -> list[Example]:
    """All pairs whose label follows from the groups; two contradictions of one note may agree or not."""
    return [
        Example(a, b, label, group["batch"], f"{number}")
        for number, group in enumerate(groups())
        if group["held"] == held
        for a, b, label in _pairs(group)
    ]


def _pairs(group: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    same, contra, neither = [group["base"], *group["dup"]], group["contra"], group["neither"]
    yield from ((a, b, 1) for a, b in combinations(same, 2))
    yield from ((a, b, 2) for a, b in product(same, contra))
    yield from ((a, b, 0) for a, b in product([*same, *contra], neither))
    yield from ((a, b, 0) for a, b in combinations(neither, 2))


def drawn(examples: list[Example], pick: random.Random) -> list[Example]:
    """A few pairs of each label from each group, so that no group counts more than another."""
    found: dict[tuple[str, int], list[Example]] = {}
    for one in examples:
        found.setdefault((one.group, one.label), []).append(one)
    return [one for (_, label), some in found.items() for one in pick.sample(some, min(len(some), DRAWN[label]))]


def near(*, held: bool) -> list[Example]:
    """Notes of different groups that are about as near as the review compares, and are neither."""
    from chie.knowledge.embedding.onnx import OnnxEmbedder

    texts = [
        (number, text)
        for number, group in enumerate(groups())
        if group["held"] == held
        for text in (group["base"], group["dup"][0], group["contra"][0])
    ]
    texts = random.Random(4).sample(texts, min(len(texts), COMPARED))
    vectors = OnnxEmbedder().embed([text for _, text in texts])
    cosines = vectors @ vectors.T
    found = [
        Example(texts[i][1], texts[j][1], 0, "near", f"near-{i}-{j}")
        for i, j in combinations(range(len(texts)), 2)
        if texts[i][0] != texts[j][0] and MIN_NEAR <= cosines[i, j] < MAX_NEAR
    ]
    return random.Random(3).sample(found, min(len(found), NEAR))
