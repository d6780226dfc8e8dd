"""The parts of a long text that resemble a question."""

import re

LENGTH = 800  # characters of a passage, about
GAP = "\n[…]\n"

_BREAK = re.compile(r"\n\s*\n|\n|(?<=[。！？.!?])")


def passages_like(text: str, question: str, characters: int, *, beginning: bool = True) -> str:
    """The passages with most in common with the question, in their order, after the beginning of the text."""
    text = text.strip()
    if len(text) <= characters:
        return text
    passages, query = _passages(text, min(LENGTH, max(1, characters // 3))), _pairs(question)
    ranked = sorted(range(len(passages)), key=lambda one: (-len(_pairs(passages[one]) & query), one))
    chosen, used = set[int](), 0
    for position in [0, *ranked] if beginning else ranked:
        if position not in chosen and used + len(passages[position]) + len(GAP) <= characters:
            chosen.add(position)
            used += len(passages[position]) + len(GAP)
    return _joined(passages, chosen)[:characters]


def _passages(text: str, length: int) -> list[str]:
    """Cut where a paragraph, a line or a sentence ends, as near to the length as there is one."""
    passages, start = list[str](), 0
    while start < len(text):
        ends = [match.end() for match in _BREAK.finditer(text, start + 1, start + length)]
        end = ends[-1] if ends and start + length < len(text) else start + length
        passages.append(text[start:end])
        start = end
    return passages


def _joined(passages: list[str], chosen: set[int]) -> str:
    joined = ""
    for position in sorted(chosen):
        joined += passages[position] if position == 0 or position - 1 in chosen else GAP + passages[position]
    return joined if len(passages) - 1 in chosen else joined + GAP.rstrip("\n")


def _pairs(text: str) -> set[str]:
    """Pairs of characters work for Japanese and English alike."""
    plain = re.sub(r"\s+", " ", text.casefold())
    return {plain[at : at + 2] for at in range(len(plain) - 1)}
