"""The part of a passage that is worth quoting."""

import re

LONGEST = 600

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|\.(?=\s)|\n+|$)")


def quote(passage: str, question: str) -> str:
    """The passage itself unless it is long; then from the sentence that shares most with the question."""
    passage = passage.strip()
    if len(passage) <= LONGEST:
        return passage
    sentences = [match.group() for match in _SENTENCE.finditer(passage) if match.group()]
    asked = _pairs(question)
    best = max(range(len(sentences)), key=lambda index: len(_pairs(sentences[index]) & asked))
    start = len("".join(sentences[:best]))
    start = min(start, max(0, len(passage) - LONGEST))
    cut = passage[start : start + LONGEST].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + LONGEST < len(passage) else ''}"


def _pairs(text: str) -> set[str]:
    """Neighbouring characters: they serve Japanese and English alike."""
    plain = re.sub(r"\s+", " ", text.casefold())
    return {plain[i : i + 2] for i in range(len(plain) - 1)} - {" "}
