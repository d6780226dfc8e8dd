"""How useful notes are: what became of them is counted in memory and written in the background, never per reader.

A process that is killed loses the counts of the last seconds. The same user counts once in ten minutes for the same
note, because typing a query and reloading a page are no uses. Searches that ended in a note are kept only for users who
agreed.
"""

import logging
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock, Timer

from chie.access.identity import current_user
from chie.errors import ChieError
from chie.knowledge.note import Found, now
from chie.knowledge.records import Mark, RecordedSearch, Use
from chie.knowledge.results import ReadNote
from chie.knowledge.service import KnowledgeService

FLUSH_SECONDS = 5.0
REPEAT_AFTER = timedelta(minutes=10)
SEARCH_ENDS_AFTER = timedelta(minutes=10)
MAX_REMEMBERED = 20_000  # uses that must not count again yet
MAX_SEARCHERS = 1_000
MAX_SEARCHES = 5  # of one user, any of which may have led to a note
MAX_QUERY = 500  # characters; PostgreSQL indexes the query

logger = logging.getLogger(__name__)


class Usefulness:
    def __init__(self, service: KnowledgeService, *, clock: Callable[[], datetime] = now) -> None:
        self._service = service
        self._records = service.store.records
        self._clock = clock
        self._lock = Lock()
        self._writing = Lock()  # while counts are neither in memory nor in the store
        self._timer: Timer | None = None
        self._uses: Counter[tuple[str, Use]] = Counter()
        self._found: list[tuple[str, RecordedSearch]] = []
        self._counted: OrderedDict[tuple[str, str, Use], datetime] = OrderedDict()
        self._searches: OrderedDict[str, deque[tuple[str, frozenset[str], datetime]]] = OrderedDict()

    def count(self, use: Use, note_ids: Iterable[str]) -> None:
        """By the current user. Returns at once."""
        with self._lock:
            new = [note_id for note_id in note_ids if self._is_new(note_id, use)]
            self._uses.update((note_id, use) for note_id in new)
            if new:
                self._start()

    def searched(self, query: str, found: Found) -> None:
        """Notes that were only perhaps meant are not counted as shown, but may be what the user opens."""
        self.count("shown", [hit.id for hit in found.hits if hit.confident])
        user, ids = current_user().id, frozenset(hit.id for hit in found.hits)
        if not ids or len(query) > MAX_QUERY:
            return
        with self._lock:
            searches = self._searches.setdefault(user, deque(maxlen=MAX_SEARCHES))
            searches.append((query, ids, self._clock()))
            self._searches.move_to_end(user)
            if len(self._searches) > MAX_SEARCHERS:
                self._searches.popitem(last=False)

    def opened(self, note_id: str) -> None:
        self.count("opened", [note_id])
        self._ended_in(note_id)

    def cited(self, note_ids: Sequence[str]) -> None:
        """Ids of notes that the current user does not see are ignored."""
        seen = [note_id for note_id in note_ids if self._service.find(note_id)]
        self.count("cited", seen)
        for note_id in seen:
            self._ended_in(note_id)

    def read(self, note_id: str) -> ReadNote:
        """The note with its uses before this one. NotFoundError as in the service."""
        read = ReadNote.read(self._service, note_id)
        read = replace(read, uses=self.uses(read.id), mark=self.mark_of(read.id))
        self.opened(read.id)
        return read

    def uses(self, note_id: str) -> dict[str, int]:
        """With what this process has not written yet; without what never happened. Callers check who may see the
        note."""
        with self._writing:
            stored = Counter[str](self._records.uses(note_id))
            with self._lock:
                stored.update({use: count for (note, use), count in self._uses.items() if note == note_id})
        stored.update(self._records.marks(note_id).values())
        return dict(stored)

    def mark(self, note_id: str, mark: Mark | None) -> None:
        """Say that a note helped or is wrong, or take that back."""
        note = self._service.get(note_id)
        self._records.mark(note.id, current_user().id, mark)

    def mark_of(self, note_id: str) -> Mark | None:
        return self._records.marks(note_id).get(current_user().id)

    def flush(self) -> None:
        """Write what was counted. Counts that cannot be written are kept for the next time."""
        with self._writing:
            with self._lock:
                uses, found, self._timer = self._uses, self._found, None
                self._uses, self._found = Counter(), []
            self._write(uses, found)

    def _write(self, uses: Counter[tuple[str, Use]], found: Sequence[tuple[str, RecordedSearch]]) -> None:
        try:
            if uses:
                self._records.add_uses(uses)
                uses = Counter()
            for user, search in found:
                if self._records.records_searches(user) and self._service.store.get(search.note):
                    self._records.record_search(user, search)
        except ChieError as error:
            logger.warning("the uses of notes could not be written: %s [%s]", error, error.code)
            with self._lock:
                self._uses.update(uses)

    def close(self) -> None:
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.cancel()
            self.flush()

    def _is_new(self, note_id: str, use: Use) -> bool:
        key, moment = (current_user().id, note_id, use), self._clock()
        before = self._counted.get(key)
        if before is not None and moment - before < REPEAT_AFTER:
            return False
        self._counted[key] = moment
        self._counted.move_to_end(key)
        if len(self._counted) > MAX_REMEMBERED:
            self._counted.popitem(last=False)
        return True

    def _ended_in(self, note_id: str) -> None:
        user, moment = current_user().id, self._clock()
        with self._lock:
            for query, ids, at in reversed(self._searches.get(user, ())):
                if note_id in ids and moment - at < SEARCH_ENDS_AFTER:
                    self._found.append((user, RecordedSearch(query=query, note=note_id, at=moment)))
                    self._start()
                    return

    def _start(self) -> None:
        """The lock is held."""
        if self._timer is None:
            self._timer = Timer(FLUSH_SECONDS, self.flush)
            self._timer.daemon = True
            self._timer.start()
