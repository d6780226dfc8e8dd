"""Further pairs of a group whose labels follow from its own: near copies, shorter and longer notes, another number in
one of two notes that say the same, and contradictions that end because each note holds in a place of its own.

In the groups a single changed word is mostly a contradiction, so a model that sees only them takes a copy with another
comma for one; and their numbers mostly differ together with the words around them.
"""

import random
import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from bench.pair_model.examples import Example

VARIATIONS = "variations"  # the batch of all of them
LEADS = ("Note: ", "FYI: ", "Reminder: ", "TIL: ", "メモ: ", "共有: ", "【注意】", "覚え書き: ", "- ", "# ")
TAILS = (" (see the wiki)", " Just so you know.", "（確認済み）", " よろしくお願いします。", " 以上。", " 👍")
ALIKE = (
    ("する。", "します。"),
    ("である。", "です。"),
    ("ため。", "から。"),
    ("できる。", "できます。"),
    ("do not", "don't"),
    ("is not", "isn't"),
    ("cannot", "can't"),
    ("we have", "we've"),
    ("it is", "it's"),
    ("for example", "e.g."),
)
SPELT = (
    ("すること。", "する。"),
    ("production", "prod"),
    (" and ", " & "),
    ("、", " "),
    ("`", ""),
    ("-", " "),
    ('"', "'"),
)
SPELLINGS = (*ALIKE, *((b, a) for a, b in ALIKE), *SPELT)
PLACES = (
    ("In staging: ", "In production: "),
    ("開発環境では、", "本番環境では、"),
    ("iOS: ", "Android: "),
    ("Tokyo office: ", "Osaka office: "),
    ("東京リージョン: ", "米国リージョン: "),
    ("A社向け: ", "B社向け: "),
    ("Customer Northwind: ", "Customer Contoso: "),
    ("決済チーム: ", "検索チーム: "),
    ("Billing team: ", "Search team: "),
    ("v1 API: ", "v2 API: "),
    ("2022年までは、", "2024年以降は、"),
    ("Until March 2023: ", "Since April 2024: "),
    ("以前: ", "移行後は、"),
    ("Old cluster: ", "New cluster: "),
)
CHANGES = (1, -1, 2, 5, -5, 10, 20, 50)  # added to a number
FACTORS = (2, 3, 5, 10)
ENDS = ("。", ".", "!", "?", "！", "？")
_SENTENCE = re.compile(r"(?<=[。！？])\s*|(?<=[.!?])\s+(?=\S)")
_NUMBER = re.compile(r"(?<![\w.,:/#-])\d{1,5}(?:\.\d{1,3})?(?![\d.,:/-]*\d)(?!\s?[年月日-])")  # of no date or name
_WORD = re.compile(r"[a-z]{5,}")


def variations(group: dict[str, Any], pick: random.Random) -> Iterator[Example]:
    same, contra, neither = [group["base"], *group["dup"]], group["contra"], group["neither"]
    one, other = pick.sample(same, 2)
    text = pick.choice([*same, *contra, *neither])
    yield _example(text, copied(text, pick), 1)
    if shorter := _shortened(pick.choice([*same, *contra, *neither]), pick):
        yield _example(*shorter, 1)
    yield _example(one, _longer(other, neither, pick), 1)
    against = pick.choice(contra)
    yield _example(pick.choice([one, _longer(one, neither[:2], pick)]), _longer(against, neither[2:], pick), 2)
    yield _example(_longer(neither[0], neither[1:], pick), pick.choice([one, against]), 0)
    for first, second in (*pick.sample(list(permutations(same, 2)), len(same)), (text, text)):
        if recounted := _recounted(second, first, pick):
            yield _example(first, recounted, 2)
            break
    here, there = pick.sample(pick.choice(PLACES), 2)
    yield _example(here + one, there + against, 0)
    yield _example(here + one, here + against, 2)


def copied(text: str, pick: random.Random) -> str:
    """The same note with one to three changes that mean nothing."""
    for change in pick.sample((_respelled, _framed, _reordered, _mistyped, _unfinished), pick.randint(1, 3)):
        text = change(text, pick)
    return text


def _respelled(text: str, pick: random.Random) -> str:
    found = [(a, b) for a, b in SPELLINGS if a in text]
    return text.replace(*pick.choice(found)) if found else text


def _framed(text: str, pick: random.Random) -> str:
    return pick.choice(LEADS) + text if pick.random() < 0.5 else text + pick.choice(TAILS)


def _reordered(text: str, pick: random.Random) -> str:
    parts = sentences(text)
    return _text(pick.sample(parts, len(parts)), text)


def _mistyped(text: str, pick: random.Random) -> str:
    """Two letters of a lower-case word change places."""
    words = list(_WORD.finditer(text))
    if not words:
        return text
    at = pick.choice(words).start() + pick.randint(1, 3)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _unfinished(text: str, _: random.Random) -> str:
    return text.rstrip("。.") if text.endswith(("。", ".")) else f"{text}!"


def _shortened(text: str, pick: random.Random) -> tuple[str, str] | None:
    parts = sentences(text)
    return (text, _text(parts[: pick.randint(1, len(parts) - 1)], text)) if len(parts) > 1 else None


def _longer(text: str, others: list[str], pick: random.Random) -> str:
    """With one of the others before or after it, in the same language if there is one."""
    other = pick.choice([one for one in others if one.isascii() == text.isascii()] or others)
    parts = [text, other] if pick.random() < 0.7 else [other, text]
    return " ".join(part if part.endswith(ENDS) else f"{part}." for part in parts)


def _recounted(text: str, same: str, pick: random.Random) -> str | None:
    """With another value for a number that the other note has too."""
    shared = sorted(set(_NUMBER.findall(text)) & set(_NUMBER.findall(same)))
    if not shared:
        return None
    number = pick.choice(shared)
    value = _other_number(number, pick)
    return None if value in same else _NUMBER.sub(lambda found: value if found[0] == number else found[0], text)


def _other_number(number: str, pick: random.Random) -> str:
    """Of a decimal number or a version, the last part changes."""
    whole, point, part = number.rpartition(".")
    value = int(part)
    others = [value + change for change in CHANGES] + [value * factor for factor in FACTORS] + [value // 2]
    return f"{whole}{point}{pick.choice([other for other in others if other > 0 and other != value])}"


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part]


def _text(parts: list[str], like: str) -> str:
    return ("" if "。" in like else " ").join(parts)


def _example(a: str, b: str, label: int) -> Example:
    return Example(a, b, label, VARIATIONS)
