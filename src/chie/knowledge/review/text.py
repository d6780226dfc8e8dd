"""Notes as the comparison sees them: statements with their values, words, scopes and denials."""

from functools import cached_property

from chie.knowledge.review import polarity, scopes
from chie.knowledge.review.dates import Date, dates
from chie.knowledge.review.quantities import Quantity, quantities
from chie.knowledge.review.statements import clauses, statements, topic_end
from chie.knowledge.review.words import Word, words

MAX_LABEL = 24  # characters before a colon


class Statement:
    """A statement with its values and words. Words inside a value, such as its unit, are no words of the statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.quantities: list[Quantity] = quantities(text)
        spans = [(quantity.start, quantity.end) for quantity in self.quantities]
        self.words = [
            word for word in words(text) if not any(word.start < end and start < word.end for start, end in spans)
        ]
        denied = [clause for clause in clauses(text) if polarity.is_negated(clause)]
        self.asserted = [one for one in self.quantities if not any(one.text in clause for clause in denied)]
        end = topic_end(text)
        self.topic = [word for word in self.words if word.start < end]
        self.past = polarity.PAST.search(text) is not None
        self.exception = polarity.EXCEPTION.search(text) is not None
        self.denies = polarity.denies(text)
        self.negated = polarity.is_negated(text)
        self.scopes = scopes.scopes(text)
        self.denied = self._denied()

    @cached_property
    def conditions(self) -> "list[Statement]":
        return [Statement(clause) for clause in clauses(self.text) if polarity.is_condition(clause)]

    def _denied(self) -> list[Word]:
        """The word that the clause denies: after `not`, before ない."""
        span = polarity.cue(self.text)
        if not self.denies or span is None:
            return []
        after = [word for word in self.words if word.start >= span[1]]
        before = [word for word in self.words if word.end <= span[0]]
        english = self.text[slice(*span)].isascii()
        return (after[:1] or before[-1:]) if english else before[-1:]


class Text:
    """A note as the comparison sees it: its title, unless that is how its text begins, and its statements. What it says
    is parsed on first use: most pairs are about different things, which the pair model sees in the bare text."""

    def __init__(self, title: str, content: str) -> None:
        named = bool(title) and not content.lstrip("# ").startswith(title.rstrip("…."))
        self._title = [title] if named else []
        self._content = content
        self.text = "\n".join([*self._title, content])

    @cached_property
    def statements(self) -> list[Statement]:
        return [Statement(part) for part in (*self._title, *statements(self._content))]

    @cached_property
    def words(self) -> list[Word]:
        return [word for statement in self.statements for word in statement.words]

    @cached_property
    def subject(self) -> list[Word]:
        return _subject(self.statements[0]) if self.statements else []

    @cached_property
    def scopes(self) -> list[frozenset[str]]:
        return scopes.scopes(self._content)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return [quantity for one in self.statements for quantity in one.quantities]

    @cached_property
    def asserted(self) -> list[Quantity]:
        return [quantity for one in self.statements for quantity in one.asserted]

    @cached_property
    def dates(self) -> list[Date]:
        return [date for one in self.statements for date in dates(one.text)]

    @cached_property
    def clauses(self) -> list[Statement]:
        return [clause for one in self.statements for clause in _clauses(one.text)]

    @cached_property
    def parts(self) -> list[Statement]:
        """Clauses with a value that are not statements by themselves."""
        whole = {statement.text for statement in self.statements}
        return [one for one in self.clauses if one.quantities and one.words and one.text not in whole]

    @cached_property
    def conditions(self) -> list[Statement]:
        return [clause for statement in self.statements for clause in statement.conditions]

    @cached_property
    def assertions(self) -> list[Statement]:
        return [clause for clause in self.clauses if not polarity.is_condition(clause.text)]


def _clauses(statement: str) -> list[Statement]:
    """A clause without words of its own, such as a final 禁止, belongs to the one before it."""
    found: list[Statement] = []
    for text in clauses(statement):
        clause = Statement(text)
        if found and not clause.words and not clause.quantities:
            found[-1] = Statement(f"{found[-1].text} {text}")
        else:
            found.append(clause)
    return found


def _subject(statement: Statement) -> list[Word]:
    """What a note is about. Of a form such as `Endpoint: GET /users`, the first value."""
    label, colon, _ = statement.text.partition(":")
    return statement.words if colon and len(label) <= MAX_LABEL else statement.topic
