"""Features of a pair of notes from which `verdict.py` decides whether they repeat or contradict each other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from chie.knowledge.review import dates, scopes
from chie.knowledge.review.opposites import opposite
from chie.knowledge.review.quantities import Quantity, comparable
from chie.knowledge.review.text import Statement, Text
from chie.knowledge.review.words import Word

Difference = Literal["number", "version", "name", "negation", "statement"]
Likeness = Callable[[str, str], float]
"""The cosine of two words."""

SAME_WORD = 0.7  # cosine of synonyms and translations; different things of one kind are at 0.2 to 0.5
FOREIGN_WORD = 0.55  # below this, a word is another thing for certain
SAME_NAME = 0.8  # cosine of a Latin word in a Japanese text, such as DB, and the Japanese word for it
PART_OF_WORD = 0.75  # likeness of a compound and its part
MIN_SUBJECT, MIN_NEAR = 0.3, 0.5  # statements that have less in common are about different things
MAX_NAMES = 2  # in each of two statements that name different things; more are no single value
MAX_COUNTED = 6  # names in a note; one more says nothing more
MAX_COMPARED = 12  # statements of each note that are compared as a whole
MAX_PAIRS = 100  # of statements, and of clauses, that one pair of notes compares


@dataclass(frozen=True)
class Conflict:
    """Two statements that may exclude each other, with what differs in each. `subject` says how much their words
    have in common, `apart` how certain it is that each has a subject of its own."""

    difference: Difference
    a: str
    b: str
    here: str
    there: str
    subject: float
    apart: float
    topics_apart: float
    notes_apart: float
    unit: float = 1.0  # less if it is unclear whether both measure, or deny, the same
    single: bool = False  # both notes are one statement
    special: bool = False  # an exception, or one of them speaks of the past


@dataclass(frozen=True)
class Features:
    """`covered` is the share of one note's words that the other has too, for the note where it is larger. `openings` is
    how alike their first statements are, `counterpart` how alike the statement that has the farthest nearest one is, in
    the note where that is closer."""

    cosine: float
    openings: float
    counterpart: float
    names: int
    measured: bool
    covered: float
    both_covered: float
    apart: float
    names_apart: bool
    values_apart: bool
    values_agree: bool
    dates_differ: bool
    periods_differ: bool
    scopes_differ: bool
    past_differs: bool
    denials_differ: bool
    opposites: bool
    conflicts: list[Conflict] = field(default_factory=list)


class Comparison:
    """Compares two notes. `likeness` is called for words that differ in spelling."""

    def __init__(self, a: Text, b: Text, *, cosine: float, likeness: Likeness) -> None:
        self._a, self._b = a, b
        self._cosine = cosine
        self._likeness = likeness
        self._found: dict[tuple[str, str], float] = {}
        self._single = len(a.statements) == len(b.statements) == 1

    def features(self) -> Features:
        a, b = self._a, self._b
        first, second = self._shared(a.words, b.words), self._shared(b.words, a.words)
        pairs = [(one, other) for one in a.statements for other in b.statements][:MAX_PAIRS]
        pairs += [(one, other) for one in a.parts for other in b.parts][:MAX_PAIRS]
        found = [conflict for pair in pairs for conflict in (*self._values(*pair), *self._names(*pair))]
        conflicts = [
            conflict
            for conflict in (*found, *self._negations())
            if conflict.subject >= MIN_SUBJECT or self._likeness(conflict.a, conflict.b) >= MIN_NEAR
        ]
        return Features(
            cosine=self._cosine,
            openings=self._likeness(a.statements[0].text, b.statements[0].text) if a.statements and b.statements else 0,
            counterpart=max(self._counterpart(a, b), self._counterpart(b, a)),
            names=min(MAX_COUNTED, *(len({word.key for word in note.words if word.name}) for note in (a, b))),
            measured=bool(a.quantities and b.quantities),
            covered=max(first, second),
            both_covered=min(first, second),
            apart=min(self._foreign(a.words, b.words), self._foreign(b.words, a.words)),
            names_apart=bool(self._unknown_names(a.words, b) and self._unknown_names(b.words, a)),
            values_apart=_has_unknown(a, b) and _has_unknown(b, a),
            values_agree=_agree(a.quantities, b.quantities) and _agree(b.quantities, a.quantities),
            dates_differ=dates.differ(a.dates, b.dates) and _days(a) and _days(b),
            periods_differ=dates.differ(a.dates, b.dates) and not (_days(a) and _days(b)),
            scopes_differ=scopes.differ(a.scopes, b.scopes) or self._conditions_differ(a.conditions, b.conditions),
            past_differs=any(one.past for one in a.statements) != any(one.past for one in b.statements),
            denials_differ=any(one.denies for one in a.clauses) != any(one.denies for one in b.clauses),
            opposites=opposite(a.text, b.text),
            conflicts=conflicts,
        )

    def _counterpart(self, mine: Text, theirs: Text) -> float:
        others = [other.text for other in theirs.statements[:MAX_COMPARED]]
        nearest = (
            max((self._likeness(one.text, other) for other in others), default=0.0)
            for one in mine.statements[:MAX_COMPARED]
        )
        return min(nearest, default=0.0)

    def _values(self, one: Statement, other: Statement) -> Iterable[Conflict]:
        for a in one.asserted:
            for b in other.asserted:
                unit = comparable(a, b)
                if unit < 1 and not self._mutual(one.words, other.words):
                    continue
                if unit and not (a.agrees(b) or _known(a, self._b) or _known(b, self._a)):
                    difference: Difference = "version" if _is_version(a, b) else "number"
                    yield self._conflict(difference, one, other, a.text, b.text, unit=unit)

    def _names(self, one: Statement, other: Statement) -> Iterable[Conflict]:
        """Each names something that the other note does not know, and not as its subject."""
        mine, theirs = self._unknown_names(one.words, self._b), self._unknown_names(other.words, self._a)
        if set(mine) <= set(one.topic) and set(theirs) <= set(other.topic):
            return
        if one.negated == other.negated and 0 < len(mine) <= MAX_NAMES and 0 < len(theirs) <= MAX_NAMES:
            here, there = " ".join(word.text for word in mine), " ".join(word.text for word in theirs)
            yield self._conflict("name", one, other, here, there, ignoring={*mine, *theirs})

    def _negations(self) -> Iterable[Conflict]:
        """Clauses whose nearest counterpart says the opposite."""
        pairs = [(a, b) for a in self._a.assertions for b in self._b.assertions][:MAX_PAIRS]
        likeness = {(a.text, b.text): self._mutual(a.words, b.words) for a, b in pairs}
        for a, b in pairs:
            if not _opposed(a, b) or not likeness[a.text, b.text]:
                continue
            rivals = [
                likeness[one.text, other.text]
                for one, other in pairs
                if (one is a) != (other is b) and not _opposed(one, other)
            ]
            if likeness[a.text, b.text] > max(rivals, default=0):
                special = _disagree(a.quantities, b.quantities)
                unit = self._same_denial(a, b)
                if (unit or self._single) and not self._denied_elsewhere(a, b):
                    yield self._conflict("negation", a, b, a.text, b.text, unit=unit, special=special)

    def _same_denial(self, a: Statement, b: Statement) -> float:
        """Whether one clause denies a word that the other has; half if it denies no word in particular."""
        denied = a.denied or b.denied
        if a.denies == b.denies or not denied:
            return 0.5
        return self._shared(denied, (b if a.denies else a).words)

    def _denied_elsewhere(self, a: Statement, b: Statement) -> bool:
        """Whether the other note denies the same word in another clause."""
        if a.denies == b.denies:
            return False
        denied, note = (a.denied, self._b) if a.denies else (b.denied, self._a)
        return any(clause.denies and self._shared(denied, clause.words) for clause in note.clauses)

    def _conflict(
        self,
        difference: Difference,
        one: Statement,
        other: Statement,
        here: str,
        there: str,
        *,
        unit: float = 1.0,
        special: bool = False,
        ignoring: Iterable[Word] = (),
    ) -> Conflict:
        ignored = {word.key for word in ignoring}
        mine = [word for word in one.words if word.key not in ignored]
        theirs = [word for word in other.words if word.key not in ignored]
        apart = min(self._foreign(mine, self._b.words), self._foreign(theirs, self._a.words))
        subjects = min(self._foreign(self._a.subject, self._b.words), self._foreign(self._b.subject, self._a.words))
        topics = [
            self._foreign([word for word in statement.topic or statement.words if word.key not in ignored], note.words)
            for statement, note in ((one, self._b), (other, self._a))
        ]
        return Conflict(
            difference,
            one.text,
            other.text,
            here,
            there,
            subject=self._mutual(mine, theirs),
            apart=apart,
            topics_apart=min(topics),
            notes_apart=subjects,
            unit=unit,
            single=self._single,
            special=special
            or one.past
            or other.past
            or one.exception
            or other.exception
            or self._scopes_differ(one, other, (here, there) if difference == "name" else ("", ""))
            or dates.differ(self._a.dates, self._b.dates)
            or self._conditions_differ(one.conditions, other.conditions),
        )

    def _scopes_differ(self, one: Statement, other: Statement, names: tuple[str, str]) -> bool:
        """Whether they hold in different places, apart from the names that are what they say."""
        if names == ("", ""):
            return scopes.differ(one.scopes, other.scopes) or scopes.differ(self._a.scopes, self._b.scopes)
        texts = [
            " ".join(part for part in statement.text.split() if part.strip(".,()") not in name.split())
            for statement, name in zip((one, other), names, strict=True)
        ]
        return scopes.differ(*map(scopes.scopes, texts))

    def _conditions_differ(self, mine: Sequence[Statement], theirs: Sequence[Statement]) -> bool:
        """Whether both hold under conditions, which are not the same ones."""
        if not mine or not theirs:
            return False
        if any(_disagree(a.quantities, b.quantities) for a in mine for b in theirs):
            return True
        first, second = ([word for clause in conditions for word in clause.words] for conditions in (mine, theirs))
        apart = min(self._foreign(first, self._b.words), self._foreign(second, self._a.words))
        return 1 - apart < FOREIGN_WORD

    def _unknown_names(self, mine: Sequence[Word], other: Text) -> list[Word]:
        return [word for word in mine if word.name and not self._is_known(word, other)]

    def _is_known(self, name: Word, other: Text) -> bool:
        """Names of one kind of thing are alike, and still different: Elasticsearch is not Meilisearch."""
        for word in other.words:
            if name.key == word.key:
                return True
            if word.name or name.identifier:
                if word.identifier == name.identifier and _contains(name.key, word.key):
                    return True
            elif self._similarity(name, word) >= SAME_NAME:
                return True
        return False

    def _mutual(self, mine: Sequence[Word], theirs: Sequence[Word]) -> float:
        return min(self._shared(mine, theirs), self._shared(theirs, mine))

    def _shared(self, mine: Sequence[Word], theirs: Sequence[Word]) -> float:
        """The share of the words that the others have too."""
        distinct = list({word.key: word for word in mine}.values())
        if not distinct:
            return 0.0
        return sum(self._nearest(word, theirs) >= SAME_WORD for word in distinct) / len(distinct)

    def _foreign(self, mine: Sequence[Word], theirs: Sequence[Word]) -> float:
        """How far the word is from the others that is farthest."""
        return max((1 - self._nearest(word, theirs) for word in mine), default=0.0)

    def _nearest(self, word: Word, others: Sequence[Word]) -> float:
        return max((self._similarity(word, other) for other in others), default=0.0)

    def _similarity(self, a: Word, b: Word) -> float:
        if a.key == b.key:
            return 1.0
        if a.name and b.name and (a.identifier or b.identifier or not _contains(a.key, b.key)):
            return 0.0
        pair = (a.text, b.text)
        if pair not in self._found:
            likeness = self._likeness(*pair)
            self._found[pair] = max(likeness, PART_OF_WORD) if _contains(a.key, b.key) else likeness
        return self._found[pair]


def _days(note: Text) -> bool:
    return any(date.has_day for date in note.dates)


def _opposed(a: Statement, b: Statement) -> bool:
    return a.denies != b.denies or opposite(a.text, b.text)


def _contains(a: str, b: str) -> bool:
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) >= (4 if shorter.isascii() else 2) and shorter in longer


def _known(quantity: Quantity, note: Text) -> bool:
    """Whether the other note has the same value too, in the same sense."""
    return any(comparable(quantity, other) and quantity.agrees(other) for other in note.asserted)


def _has_unknown(note: Text, other: Text) -> bool:
    return any(not _known(quantity, other) for quantity in note.quantities)


def _disagree(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    return any(comparable(a, b) and not a.agrees(b) for a in mine for b in theirs)


def _agree(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Whether no measure has different values only."""
    for a in mine:
        same = [b for b in theirs if comparable(a, b) == 1]
        if same and not any(a.agrees(b) for b in same):
            return False
    return True


def _is_version(a: Quantity, b: Quantity) -> bool:
    return not a.measure and not b.measure and (len(a.value) > 1 or len(b.value) > 1 or max(*a.value, *b.value) < 100)
