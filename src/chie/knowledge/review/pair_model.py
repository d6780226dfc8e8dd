"""A small model that reads two notes together; `pairs/MODEL_CARD.md` says how it was trained.

An embedding cannot tell 30 s from 60 s or "before" from "after" in a whole note: it has no way to look at both. This
model has the layers of the default embedder, trained on labelled pairs, and reads its table of tokens from that one's
file, so it adds 12 MB instead of 33. It is used whatever embedder the notes are searched with.
"""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from chie.knowledge.embedding.onnx import DEFAULT_MODEL
from chie.knowledge.embedding.onnx_runtime import open_session
from chie.knowledge.embedding.wordpiece import WordPiece
from chie.knowledge.review.shared_values import spelt_alike

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = Path(__file__).parent / "pairs" / "model.onnx"
TOKENS_OF = "chie-onnx-22531fbf5cb5"  # the embedder whose file has its tokens
MAX_TOKENS = 120  # of each note; the model was trained on no more
MAX_READ = 2_000  # characters of each note in which values are looked for; more than so many tokens have
SURE = 0.94  # that notes are neither: then the other order is not read. Labels were smoothed: no pair reaches 0.98
START, END = 101, 102  # [CLS], [SEP]

_loading = Lock()


class Probabilities(NamedTuple):
    neither: float
    duplicate: float
    contradiction: float


def compared(a: str, b: str) -> Probabilities:
    """The same for both orders. Loads the model on first use, in about 0.2 seconds."""
    with _loading:
        run = _load()
    return run(a, b)


@cache
def _load() -> "Callable[[str, str], Probabilities]":
    import numpy as np

    session = open_session(FILE, weights_beside=DEFAULT_MODEL)

    def run(a: str, b: str) -> Probabilities:
        first, second = sorted(tokens(a, b))
        found = in_order(first, second)
        if found.neither >= SURE:
            return found
        return Probabilities(*((one + other) / 2 for one, other in zip(found, in_order(second, first), strict=True)))

    def in_order(first: list[int], second: list[int]) -> Probabilities:
        names = ("input_ids", "positions", "segments", "matches")
        arrays = {name: np.array([row]) for name, row in zip(names, inputs(first, second), strict=True)}
        arrays["attention_mask"] = np.ones_like(arrays["input_ids"])
        return Probabilities(*map(float, session.run(None, arrays)[0]))

    return run


def tokens(a: str, b: str) -> tuple[list[int], list[int]]:
    """Of the beginnings of both notes, with the values that both have spelt alike."""
    first, second = spelt_alike(a[:MAX_READ], b[:MAX_READ])
    return _tokens(first), _tokens(second)


def _tokens(text: str) -> list[int]:
    return _tokenizer().windows(text, MAX_TOKENS + 2)[0][1:-1]


@cache
def _tokenizer() -> WordPiece:
    return WordPiece.load(DEFAULT_MODEL / "tokenizer.json")


def inputs(a: list[int], b: list[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Tokens, their positions in their own note, which note that is, and whether the other note has the token too."""
    in_a, in_b = set(a), set(b)
    return (
        [START, *a, END, *b, END],
        [*range(len(a) + 2), *range(1, len(b) + 2)],
        [0] * (len(a) + 2) + [1] * (len(b) + 1),
        [0, *(1 + (token in in_b) for token in a), 0, *(1 + (token in in_a) for token in b), 0],
    )
