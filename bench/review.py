"""Precision and recall of the review on the labelled pairs of `bench/sets/test`: notes that say the same, and notes
that contradict each other. `python -m bench.review --set dev` while choosing constants, `--errors` lists what is wrong.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.figure import Figure
from bench.table import SHARE, table
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.review.text import Text
from chie.knowledge.review.verdict import judge
from chie.knowledge.review.vocabulary import Vocabulary

SETS = Path(__file__).parent / "sets"
WHO = "Chie"
AIMS = {"duplicate": (0.95, 0.9), "contradiction": (0.8, 0.7)}


@dataclass(frozen=True)
class Pair:
    label: str
    kind: str
    lang: str
    a: str
    b: str
    batch: str = ""  # written together, of one author or topic


class Words:
    """The cosines of texts and words, by the default model."""

    def __init__(self) -> None:
        self.likeness = Vocabulary(OnnxEmbedder().embed).likeness


@cache
def pairs(name: str) -> list[Pair]:
    lines = (SETS / name / "pairs.jsonl").read_text("utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def guess(pair: Pair, words: Words) -> str:
    found = judge(Text("", pair.a), Text("", pair.b), cosine=words.likeness(pair.a, pair.b), likeness=words.likeness)
    return found.verdict if found else "neither"


def measured(guesses: Mapping[Pair, str], label: str) -> tuple[float, float]:
    """Precision and recall."""
    right = sum(guess == label == pair.label for pair, guess in guesses.items())
    said = sum(guess == label for guess in guesses.values())
    true = sum(pair.label == label for pair in guesses)
    return right / max(said, 1), right / max(true, 1)


def main() -> list[Figure]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="test", choices=("dev", "test"))
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_known_args()[0]
    words = Words()
    guesses = {pair: guess(pair, words) for pair in pairs(options.set)}
    figures = []
    for label, (precise, complete) in AIMS.items():
        precision, recall = measured(guesses, label)
        figures.append(Figure(f"{label}s: precision", WHO, precision, SHARE, aim=precise))
        figures.append(Figure(f"{label}s: recall", WHO, recall, SHARE, aim=complete))
    if options.errors:
        for pair, said in guesses.items():
            if said != pair.label:
                print(f"{pair.label} → {said} ({pair.kind})\n  {pair.a}\n  {pair.b}")
    return figures


if __name__ == "__main__":
    print(table(main()))
