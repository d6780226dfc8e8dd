"""The WordPiece tokenizer of the default model, as described by `tokenizer.json`.

The `tokenizers` library depends on a model hub client, takes 40 MB and loads more slowly, and this model needs only
one kind of tokenizer. `tests/knowledge/test_wordpiece.py` compares the two.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from unicodedata import category, normalize

from chie.unicode import normal

MAX_WINDOWS = 8  # longer texts are truncated; no passage is that long

_STRIPPED = re.compile("[\u0300-\u036f]")  # combining accents
_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff々〆]+|[^\\s\u3040-\u30ff\u3400-\u9fff々〆]+")
_MAX_WORD_LENGTH = 400
_KNOWN_STEPS = (["NFKC", "NFD", "Replace", "NFC", "BertNormalizer"], ["Split", "BertPreTokenizer"], "WordPiece")


class WordPiece:
    def __init__(self, vocabulary: dict[str, int], special: dict[str, int]) -> None:
        self._first = vocabulary
        self._rest = {piece[2:]: number for piece, number in vocabulary.items() if piece.startswith("##")}
        self._longest = max(map(len, vocabulary))
        self._special = special
        self._unknown, self._start, self._end = (special[name] for name in ("[UNK]", "[CLS]", "[SEP]"))
        self._marks = re.compile(f"({'|'.join(map(re.escape, special))})")

    @classmethod
    def load(cls, file: Path) -> "WordPiece":
        """ValueError if the file describes another kind of tokenizer."""
        content = json.loads(file.read_text(encoding="utf-8"))
        normalizers = [step["type"] for step in content["normalizer"]["normalizers"]]
        splitters = [step["type"] for step in content["pre_tokenizer"]["pretokenizers"]]
        if (normalizers, splitters, content["model"]["type"]) != _KNOWN_STEPS:
            raise ValueError("unsupported tokenizer")
        special = {token["content"]: token["id"] for token in content["added_tokens"]}
        return cls(content["model"]["vocab"], special)

    def windows(self, text: str, limit: int) -> list[list[int]]:
        """The ids of the text's pieces, at most `limit` at a time between [CLS] and [SEP]."""
        numbers = list(islice(self._numbers(text), MAX_WINDOWS * (limit - 2)))
        starts = range(0, max(len(numbers), 1), limit - 2)
        return [[self._start, *numbers[at : at + limit - 2], self._end] for at in starts]

    def _numbers(self, text: str) -> Iterator[int]:
        for at, part in enumerate(self._marks.split(text)):
            if at % 2:
                yield self._special[part]
            else:
                for word in _words(_normal(part)):
                    yield from self._pieces(word)

    def _pieces(self, word: str) -> list[int]:
        """Longest match first. A word with a part that is not in the vocabulary is unknown as a whole."""
        if len(word) > _MAX_WORD_LENGTH:
            return [self._unknown]
        pieces: list[int] = []
        start, known = 0, self._first
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                if (number := known.get(word[start:end])) is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(number)
            start, known = end, self._rest
        return pieces


def _normal(text: str) -> str:
    text = normalize("NFC", _STRIPPED.sub("", normalize("NFD", normal(text))))
    if not text.isprintable() or "\ufffd" in text:
        text = "".join(_cleaned(letter) for letter in text)
    # Letter by letter for Greek, whose final sigma has another lower-case form.
    return "".join(map(str.lower, text)) if "Σ" in text else text.lower()


@lru_cache(maxsize=4096)
def _cleaned(letter: str) -> str:
    if letter in "\t\n\r" or (letter.isspace() and category(letter) != "Cc"):
        return " "
    return "" if letter == "\ufffd" or category(letter) in ("Cc", "Cf", "Co") else letter


def _words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if run.isalnum():
            yield run
        else:
            yield from _apart(run)


def _apart(run: str) -> Iterator[str]:
    """Splits off every punctuation mark."""
    start = 0
    for at, letter in enumerate(run):
        if _is_punctuation(letter):
            if at > start:
                yield run[start:at]
            yield letter
            start = at + 1
    if start < len(run):
        yield run[start:]


@lru_cache(maxsize=4096)
def _is_punctuation(letter: str) -> bool:
    """All ASCII symbols, `$` and `+` too, and Unicode punctuation."""
    return category(letter)[0] == "P" or (letter < "\x7f" and letter.isprintable() and not letter.isalnum())
