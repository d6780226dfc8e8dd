"""Forgets unanswered searches once a note answers them."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.review_records import ReviewRecords
from chie.knowledge.viewer import ANYBODY, Viewer

if TYPE_CHECKING:
    from datetime import datetime

MAX_REPEATED = 50  # searches that a request for the review repeats


class AnsweredSearches:
    def __init__(self, store: NoteStore, records: ReviewRecords) -> None:
        self._store = store
        self._records = records
        self._newest: dict[str, datetime] = {}  # by user: the newest note when their searches were last repeated

    def forget(self, notes: Collection[ReviewNote], viewer: Viewer, *, of_all: bool) -> None:
        """The searches of the viewer, or `of_all`: then only notes that everybody sees are an answer. Searches nothing
        if there is no new note."""
        newest = max((note.updated_at for note in notes), default=None)
        if newest is None or newest == self._newest.get(viewer.user):
            return
        user, sees = (None, ANYBODY) if of_all else (viewer.user, viewer)
        waiting = [search for search in self._records.unanswered(user) if search.last_at < newest][:MAX_REPEATED]
        if answered := [search.query for search in waiting if self._is_answered(search.query, sees)]:
            self._records.forget_unanswered(answered, user)
        self._newest[viewer.user] = newest

    def _is_answered(self, query: str, viewer: Viewer) -> bool:
        return any(hit.confident for hit in self._store.search(query, limit=1, viewer=viewer).hits)
