"""Flags text that addresses a model instead of a reader: instructions, forged turns and tool calls, hidden characters.

A flag is no proof. It makes people look before a note is pushed to anybody's assistant. An attack that is reworded
until nothing is flagged gets past it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from chie.knowledge.screening.hidden_characters import INVISIBLE, hidden_characters
from chie.knowledge.screening.injection_phrases import PHRASES, FlagKind, Phrase, compiled
from chie.unicode import normal

MAX_FLAGS = 10
REMEMBERED_TEXTS = 2048  # a search reads the same passages again and again

# Notes about attacks quote them. A quoted or reported phrase in such a note is not flagged.
_DISCUSSION = re.compile(
    r"injection|inject(?:ed|s)|jailbreak|attack|adversar|red[- ]team|malicious|poison|phishing|exploit"
    r"|guardrail|インジェクション|攻撃|脱獄|悪意|対策|検知|検出|フィルタ|不正な指示|なりすまし",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^“”\n]{1,300}+”|「[^「」\n]{1,300}+」|『[^『』\n]{1,300}+』|`[^`\n]{1,300}`|'[^'\n]{8,300}'"
)
_REPORTED = re.compile(
    r"(?:\b(?:to|may|might|could|can|not|never|will|would|that|by|the model|it|them|who|which|for|of|like|as|from)|n't)"
    r"\s+$",
    re.IGNORECASE,
)
_REPORTED_AFTER = re.compile(
    r"(?:する|させる|せよ|しろ|した|ない|ず|て|と|に|し)?(?:よう|こと|とき|と(?:いう|いった|書|指示|命令|入力|頼)|文|タイプ|手口|攻撃|試み|場合)"
)
_CODE = re.compile(r"`[^`\n]{1,300}`")
_FENCED = re.compile(r"^(```|~~~)[^\n]*\n.*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """`line` counts from 1."""

    kind: FlagKind
    line: int


class Text(Protocol):
    @property
    def title(self) -> str: ...

    @property
    def content(self) -> str: ...


def is_flagged(note: Text) -> bool:
    """Whether a person should confirm the note before it is pushed to an assistant."""
    return bool(flags_of(note))


def flags_of(note: Text) -> list[Flag]:
    """Of the content, and of the title and the questions, which count as line 1."""
    lines = [note.title, *getattr(note, "questions", ())]
    return _distinct([*flags("; ".join(lines)), *flags(note.content)])


@lru_cache(REMEMBERED_TEXTS)
def flags(text: str) -> tuple[Flag, ...]:
    """In the order of the text, one per kind and line."""
    hidden = [Flag(kind="hidden_characters", line=_line(text, at)) for at in hidden_characters(text)]
    return tuple(_distinct([*hidden, *_phrases(text)]))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# Letters of other scripts that look like Latin ones.
_LATIN = str.maketrans("аеорсухіѕԁһԛԝјԍοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxisdhqwjgoABEZHIKMNOPTYX")
_OTHER_SCRIPTS = re.compile("[\u0370-\u052f]")
_MARKS = sorted({mark for phrase in PHRASES for mark in phrase.marks})
_SENTENCE = re.compile(r"[^。\n]{1,600}")


def _phrases(text: str) -> Iterator[Flag]:
    """Hidden characters and letters of other scripts do not hide a phrase. Removing them keeps the lines."""
    plain = text if text.isascii() else _unhidden(text)
    lower = plain.lower()
    marks = {mark for mark in _MARKS if mark in lower}
    mentions = _Mentions(plain)
    for phrase in PHRASES:
        if marks.isdisjoint(phrase.marks):
            continue
        for start, end in _occurrences(phrase, plain):
            if not mentions.covers(phrase, start, end):
                blank = end - start - len(plain[start:end].lstrip())
                yield Flag(kind=phrase.kind, line=_line(plain, start + blank))


def _unhidden(text: str) -> str:
    plain = normal(INVISIBLE.sub("", text))
    return plain.translate(_LATIN) if _OTHER_SCRIPTS.search(plain) else plain


def _occurrences(phrase: Phrase, text: str) -> Iterator[tuple[int, int]]:
    first, *rest = phrase.patterns
    if not rest:
        yield from (found.span() for found in compiled(first).finditer(text))
        return
    for sentence in _SENTENCE.finditer(text):
        start, at = None, sentence.start()
        for pattern in phrase.patterns:
            found = compiled(pattern).search(text, at, sentence.end())
            if found is None:
                break
            start, at = (found.start() if start is None else start), found.end()
        else:
            yield (start or 0), at


class _Mentions:
    """Where a text speaks about phrases instead of using them: in quotes, in code, in reported speech. Most texts have
    no phrase to ask this of."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _discusses(self) -> bool:
        return bool(_DISCUSSION.search(self._text))

    @cached_property
    def _quotes(self) -> list[tuple[int, int]]:
        return [found.span() for found in _QUOTES.finditer(self._text)]

    @cached_property
    def _code(self) -> list[tuple[int, int]]:
        return [found.span() for found in _CODE.finditer(self._text)]

    @cached_property
    def _fenced(self) -> list[tuple[int, int]]:
        return [found.span() for found in _FENCED.finditer(self._text)]

    def covers(self, phrase: Phrase, start: int, end: int) -> bool:
        if phrase.kind in ("tool_call", "forged_turn"):
            is_json = '\\"' in phrase.patterns[0] or '"' in phrase.patterns[0][:12]
            return _within(self._code, start, end) or (is_json and _within(self._fenced, start, end))
        if not self._discusses:
            return False
        return _within(self._quotes, start, end) or self._is_reported(start, end)

    def _is_reported(self, start: int, end: int) -> bool:
        before, after = self._text[max(0, start - 30) : start], self._text[end : end + 20]
        return bool(_REPORTED.search(before) or _REPORTED_AFTER.match(after))


def _within(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(spans, (start, len(spans) and spans[-1][1])) - 1
    return at >= 0 and spans[at][0] <= start and end <= spans[at][1]


def _distinct(found: list[Flag]) -> list[Flag]:
    return sorted(set(found), key=lambda flag: (flag.line, flag.kind))[:MAX_FLAGS]
