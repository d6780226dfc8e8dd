"""Splits a note into statements and clauses, in Japanese and English."""

import re

from chie.unicode import normal

MAX_STATEMENTS = 16  # of a long note, from its beginning
_SENTENCE_END = re.compile(r"(?<=[。！？!?])|(?<=[.;])\s+|\n+|\s/\s")
_CLAUSE_END = re.compile(
    r"[、,;()（）—]|:(?=\s|$)|[：]|\s[-–]\s|\bbut\b|\bbecause\b|\band\b|(?=\binstead of\b|\brather than\b)"
    r"|(?<=ではなく)|(?<=ずに)|(?<=[たれ]たら)|(?<=出たら)|(?<=場合は)|(?<=ときは)|が、|ので|ため"
)
_MARKUP = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")


def statements(text: str) -> list[str]:
    parts = (_MARKUP.sub("", part).strip() for part in _SENTENCE_END.split(normal(text)))
    return [part for part in parts if any(map(str.isalnum, part))][:MAX_STATEMENTS]


def clauses(statement: str) -> list[str]:
    parts = (part.strip() for part in _CLAUSE_END.split(statement))
    return [part for part in parts if any(map(str.isalnum, part))]


_TOPIC_END = re.compile(
    r"[はが:：](?![ぁ-ん]{0,1}[ぁ-ん]*けない)|\b(?:is|are|was|were|has|have|had|may|can|cannot|must|should|will|does|do|uses?|runs?|needs?"
    r"|requires?|takes?|gets?|goes|go|keeps?|accepts?|allows?|supports?|reads?|sends?|expires?|retr(?:y|ies)|listens?|lives?)\b"
)
_NO_TOPIC = re.compile(r"^\s*(?:we|you|i|they|it|if|when|to|use|run|do|never|always|don't|ask|note)\b", re.IGNORECASE)


def topic_end(statement: str) -> int:
    """Where the subject ends: at は in Japanese, before the verb in English; 0 if it does not begin with one."""
    found = _TOPIC_END.search(statement)
    return 0 if found is None or _NO_TOPIC.match(statement) else found.start()
