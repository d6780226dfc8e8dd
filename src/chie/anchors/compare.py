"""What has become of some lines of a file, from two versions of it.

`fresh` is only said if it is proved: the lines are there unchanged, with enough of their surroundings to contain a line
that occurs once in both versions, and on the same side of every other such line. Lines that were copied, or that may
have been copied and then edited, are `unknown`. docs/decisions/0021-anchors.md has the reasons.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import NamedTuple

DISTINCTIVE = 12  # letters and digits that lines need to be recognised in another place
MAX_MATCHES = 4_000_000  # pairs of lines that are compared in order; more are only counted


class Verdict(NamedTuple):
    """`first` and `last` are the numbers of the lines in the new version; 0 if they are nowhere."""

    state: str
    detail: str
    changed: float | None = None
    first: int = 0
    last: int = 0


def split_lines(content: bytes) -> list[bytes]:
    """Without line ends, whichever they are."""
    lines = [line.removesuffix(b"\r") for line in content.split(b"\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def fingerprint(lines: list[bytes]) -> str:
    return sha256(b"\n".join(lines)).hexdigest()


class Comparison:
    def __init__(self, old: list[bytes], new: list[bytes]) -> None:
        self.old, self.new = old, new
        self._in_old, self._in_new = Counter(old), Counter(new)
        self._place = {line: number for number, line in enumerate(new) if self._in_new[line] == 1}
        self._landmarks = [
            (number, self._place[line])
            for number, line in enumerate(old)
            if self._is_unique(line) and line in self._place
        ]

    def verdict(self, first: int, last: int) -> Verdict:
        """Of the lines `first` to `last` of the old version, counted from 1."""
        start, stop = first - 1, last
        if self.old == self.new:
            return Verdict("fresh", "same", 0.0, first, last)
        block = self._block(start, stop)
        found = self._found(*block) if block else None
        if block and found is not None:
            return self._located(first, last, found + start - block[0], block)
        if self._duplicated(start, stop):
            return Verdict("unknown", "duplicated")
        return self._changed(start, stop)

    def distinctive_line(self, first: int, last: int) -> bytes:
        """The longest of the lines that occur once in the old version; empty if they could occur anywhere."""
        unique = [line.strip() for line in self.old[first - 1 : last] if self._is_unique(line)]
        return max(unique, key=len) if sum(map(_is_letter, b"".join(unique))) >= DISTINCTIVE else b""

    def only_deletes(self) -> bool:
        """Whether the new version has no line that the old one did not have, or not as often."""
        return not self._in_new - self._in_old

    def _is_unique(self, line: bytes) -> bool:
        return self._in_old[line] == 1 and bool(line.strip())

    def _block(self, start: int, stop: int) -> tuple[int, int] | None:
        """The lines with as much around them as it takes to have a line that occurs once; None if the file has none."""
        while not any(map(self._is_unique, self.old[start:stop])):
            if start == 0 and stop == len(self.old):
                return None
            start, stop = max(start - 1, 0), min(stop + 1, len(self.old))
        return start, stop

    def _found(self, start: int, stop: int) -> int | None:
        """Where the block is in the new version, if each of its unique lines is there once, and only inside of it."""
        lines = self.old[start:stop]
        unique = [number for number, line in enumerate(lines) if self._is_unique(line)]
        if any(self._in_new[lines[number]] != 1 for number in unique):
            return None
        at = self._place[lines[unique[0]]] - unique[0]
        return at if at >= 0 and self.new[at : at + len(lines)] == lines else None

    def _located(self, first: int, last: int, at: int, block: tuple[int, int]) -> Verdict:
        place = (at + 1, at + 1 + last - first)
        top, bottom = block
        crossed = any(
            (old < top and new > at) or (old >= bottom and new < at)
            for old, new in self._landmarks
            if not top <= old < bottom
        )
        if crossed and not (self.only_deletes() and self.distinctive_line(first, last)):
            return Verdict("unknown", "unsure", None, *place)
        return Verdict("fresh", "same" if place == (first, last) else "moved", 0.0, *place)

    def _duplicated(self, start: int, stop: int) -> bool:
        """Whether the lines are there, but it is unclear whether these are the ones: there are several, or lines around
        them are gone that would tell."""
        lines = self.old[start:stop]
        return any(self.new[at : at + len(lines)] == lines for at in range(len(self.new) - len(lines) + 1))

    def _changed(self, start: int, stop: int) -> Verdict:
        low, high = self._gap(start, stop)
        wanted, region = self.old[start:stop], self.new[low:high]
        respaced = _find([b"".join(line.split()) for line in wanted], [b"".join(line.split()) for line in region])
        if respaced is not None:
            return Verdict("changed", "whitespace", 0.0, low + respaced + 1, low + respaced + len(wanted))
        matches = _matches(wanted, region)
        kept = [(mine, other) for mine, other in matches if wanted[mine].strip()]
        if not kept:
            added = Counter(region) - Counter(self.old)
            if not any(line.strip() for line in added):
                return Verdict("gone", "deleted", 1.0)
            return Verdict("changed", "edited", 1.0, low + 1, high)
        top, bottom = kept[0][1], kept[-1][1]
        size = max(len(wanted), bottom - top + 1)
        share = max(1 - len(matches) / size, 1 / (2 * size))  # never none: something has changed
        return Verdict("changed", "edited", share, low + top + 1, low + bottom + 1)

    def _gap(self, start: int, stop: int) -> tuple[int, int]:
        """The part of the new version between the nearest landmarks around the lines."""
        before = max(((old, new) for old, new in self._landmarks if old < start), default=None)
        low = before[1] + 1 if before else 0
        after = [new for old, new in self._landmarks if old >= stop and new >= low]
        return low, after[0] if after else len(self.new)


def whole_file(old: list[bytes], new: list[bytes]) -> Verdict:
    """The verdict on a file as a whole; all blanks count."""
    if old == new:
        return Verdict("fresh", "same", 0.0)
    kept = sum((Counter(old) & Counter(new)).values())
    size = max(len(old), len(new))
    bare = [b"".join(line.split()) for line in old] == [b"".join(line.split()) for line in new]
    if bare:
        return Verdict("changed", "whitespace", 0.0)
    return Verdict("changed", "edited", max(1 - kept / size, 1 / (2 * size)) if size else 1.0)


def with_fingerprint(wanted: str, first: int, last: int, new: list[bytes]) -> Verdict:
    """The verdict without the old version. Only the same lines in the same place, and nowhere else, prove anything."""
    size = last - first + 1
    found = [at for at in range(len(new) - size + 1) if fingerprint(new[at : at + size]) == wanted]
    if found == [first - 1]:
        return Verdict("fresh", "same", 0.0, first, last)
    if len(found) == 1:
        return Verdict("unknown", "unsure", None, found[0] + 1, found[0] + size)
    return Verdict("unknown", "duplicated" if found else "commit_unknown")


def _is_letter(byte: int) -> bool:
    """Or a digit, or part of a letter outside ASCII."""
    return byte > 127 or chr(byte).isalnum()


def _find(wanted: list[bytes], lines: list[bytes]) -> int | None:
    places = (at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted)
    return next(places, None) if any(wanted) else None


def _matches(wanted: list[bytes], region: list[bytes]) -> list[tuple[int, int]]:
    """Pairs of equal lines, in order."""
    if len(wanted) * len(region) > MAX_MATCHES:
        return []
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, wanted, region, autojunk=False).get_matching_blocks()
    return [(block.a + number, block.b + number) for block in blocks for number in range(block.size)]
