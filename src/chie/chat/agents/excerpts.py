"""The part of a passage that is worth quoting."""

import re

MAX_EXCERPT = 600  # characters

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|\.(?=\s)|\n+|$)")


def excerpt(passage: str, question: str) -> str:
    """The whole passage if it is short, otherwise a part starting at the sentence most similar to the question."""
    passage = passage.strip()
    if len(passage) <= MAX_EXCERPT:
        return passage
    sentences = [match.group() for match in _SENTENCE.finditer(passage) if match.group()]
    query = _bigrams(question)
    best = max(range(len(sentences)), key=lambda index: len(_bigrams(sentences[index]) & query))
    start = min(len("".join(sentences[:best])), max(0, len(passage) - MAX_EXCERPT))
    part = passage[start : start + MAX_EXCERPT].strip()
    return f"{'…' if start else ''}{part}{'…' if start + MAX_EXCERPT < len(passage) else ''}"


def _bigrams(text: str) -> set[str]:
    """Pairs of characters work for Japanese and English alike."""
    plain = re.sub(r"\s+", " ", text.casefold())
    return {plain[i : i + 2] for i in range(len(plain) - 1)} - {" "}
