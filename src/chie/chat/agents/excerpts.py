"""The part of a passage that is worth quoting."""

import re

MAX_EXCERPT = 900  # characters: most passages are shorter, and quoted whole

_FENCE = "```"
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
    end = start + MAX_EXCERPT
    part = f"{'…' if start else ''}{passage[start:end].strip()}{'…' if end < len(passage) else ''}"
    return _with_whole_fences(part, inside=passage[:start].count(_FENCE) % 2 == 1)


def _with_whole_fences(part: str, *, inside: bool) -> str:
    """Opens the code fence in which a part starts, and closes the one in which it ends."""
    opened = f"{_FENCE}\n{part}" if inside else part
    return f"{opened}\n{_FENCE}" if opened.count(_FENCE) % 2 else opened


def _bigrams(text: str) -> set[str]:
    """Pairs of characters work for Japanese and English alike."""
    plain = re.sub(r"\s+", " ", text.casefold())
    return {plain[i : i + 2] for i in range(len(plain) - 1)} - {" "}
