"""How sure it is that a note helps with what an assistant is doing: the calibration of recall.

Similarity alone cannot tell a prompt that needs a note from one that shares its subject, so there are two thresholds:
above the lower one a note is worth a line (a hint), above the higher one its text. Words in common rank notes and help
a hint, but they never make it sure. `bench/recall` measures this; docs/decisions/0019-recall.md has the figures.
"""

from dataclasses import dataclass
from math import log10
from typing import Literal

from chie.knowledge.note import Note
from chie.knowledge.search.tokens import query_tokens, tokens
from chie.knowledge.store.base import Similarity

Tier = Literal["passage", "hint"]

WORDS_WEIGHT = 0.2
HINT = 0.47
PASSAGE = 0.49
MIN_SIMILARITY = 0.20  # of both the text and the question, for a hint
SURE_SIMILARITY = 0.36  # of both, for a passage
STEP = 0.08  # how much the thresholds rise if there are ten times as many notes: more are similar by chance
CALIBRATED_AT = 100  # notes
FEWEST, MOST = 10, 1_000  # outside of these the thresholds stay, because nothing was measured there


@dataclass(frozen=True)
class Evidence:
    """`words` is the share of the words of the note's best question, or of its title, that the text has."""

    note: Note
    similarity: Similarity
    words: float

    @property
    def meaning(self) -> float:
        """The mean of the similarity to the note's text and to its best question; one of them alone may be chance."""
        question = self.similarity.question
        return self.similarity.text if question is None else (self.similarity.text + question) / 2

    @property
    def rank(self) -> float:
        return self.meaning + WORDS_WEIGHT * self.words

    def tier(self, notes: int) -> Tier | None:
        """What to show of the note, if there are as many `notes`."""
        rise = STEP * log10(min(max(notes, FEWEST), MOST) / CALIBRATED_AT)
        least = min(one for one in (self.similarity.text, self.similarity.question) if one is not None)
        if self.meaning >= PASSAGE + rise and least >= SURE_SIMILARITY:
            return "passage"
        if self.rank >= HINT + rise and least >= MIN_SIMILARITY:
            return "hint"
        return None


def shared_words(text: str, note: Note) -> float:
    has = set(tokens(text))
    return max((_share(question, has) for question in [*note.questions, note.title]), default=0.0)


def _share(question: str, has: set[str]) -> float:
    words = query_tokens(question)
    return sum(word in has for word in words) / len(words) if words else 0.0
