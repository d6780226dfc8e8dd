"""What is kept beside notes, in the memory of this process: for stores without a place for it."""

from collections import Counter, defaultdict
from datetime import datetime

from chie.knowledge.records import Decision, Mark, RecordedSearch, Use
from chie.knowledge.store.records import MAX_SEARCHES, NoteRecords, Uses

MAX_DECISIONS = 100


class MemoryRecords(NoteRecords):
    def __init__(self) -> None:
        self._decisions: dict[str, Decision] = {}
        self._uses: Counter[tuple[str, Use]] = Counter()
        self._marks: defaultdict[str, dict[str, Mark]] = defaultdict(dict)
        self._recording: dict[str, list[RecordedSearch]] = {}

    def remember_decision(self, decision: Decision, *, forget_before: datetime) -> None:
        kept = [one for one in self._decisions.values() if one.at >= forget_before][1 - MAX_DECISIONS :]
        self._decisions = {one.proposal.id: one for one in [*kept, decision]}

    def decision(self, proposal_id: str) -> Decision | None:
        return self._decisions.get(proposal_id)

    def forget_decision(self, proposal_id: str) -> None:
        self._decisions.pop(proposal_id, None)

    def add_uses(self, uses: Uses) -> None:
        self._uses.update(uses)

    def uses(self, note_id: str) -> dict[Use, int]:
        return {kind: count for (note, kind), count in self._uses.items() if note == note_id}

    def mark(self, note_id: str, user_id: str, mark: Mark | None) -> None:
        self._marks[note_id].pop(user_id, None)
        if mark:
            self._marks[note_id][user_id] = mark

    def marks(self, note_id: str) -> dict[str, Mark]:
        return dict(self._marks.get(note_id, {}))

    def records_searches(self, user_id: str) -> bool:
        return user_id in self._recording

    def agree(self, user_id: str, *, recording: bool) -> None:
        if recording:
            self._recording.setdefault(user_id, [])
        else:
            self._recording.pop(user_id, None)

    def record_search(self, user_id: str, search: RecordedSearch) -> None:
        known = self._recording.setdefault(user_id, [])
        others = [one for one in known if (one.query, one.note) != (search.query, search.note)]
        self._recording[user_id] = [search, *others][:MAX_SEARCHES]

    def searches(self, user_id: str) -> list[RecordedSearch]:
        return sorted(self._recording.get(user_id, []), key=lambda one: one.at, reverse=True)
