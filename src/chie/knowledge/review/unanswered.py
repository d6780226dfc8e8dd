"""Remembers searches that found nothing confident, of users who have agreed to have their searches recorded."""

from datetime import datetime

from chie.access.identity import current_user
from chie.knowledge.search.tokens import fold
from chie.knowledge.store.records import NoteRecords
from chie.knowledge.store.review_records import ReviewRecords

MAX_REMEMBERED = 200  # characters


def remember_unanswered(records: NoteRecords, query: str, at: datetime) -> None:
    """Called for searches of people and assistants. Hooks search without coming here."""
    user, text = current_user().id, fold(query)
    if isinstance(records, ReviewRecords) and 0 < len(text) <= MAX_REMEMBERED and records.records_searches(user):
        records.add_unanswered(user, text, at)
