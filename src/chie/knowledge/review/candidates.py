"""What the review may ask about, before the notes are read."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from chie.knowledge.anchors.anchor import AnchorReport
from chie.knowledge.note import Note
from chie.knowledge.review.findings import FoundPair, Kind, Reason, ReviewNote, UnansweredSearch


@dataclass(frozen=True)
class Candidate:
    """A finding before its notes are read."""

    id: str
    kind: Kind
    notes: tuple[str, ...]
    reason: Reason
    fingerprint: str


def of_pair(pair: FoundPair, notes: dict[str, ReviewNote]) -> Candidate:
    """The older note first."""
    swapped = (notes[pair.a].updated_at, pair.a) > (notes[pair.b].updated_at, pair.b)
    ids, values = (pair.a, pair.b), (pair.here, pair.there)
    if swapped:
        ids, values = ids[::-1], values[::-1]
    params: dict[str, str | int | float] = {"here": values[0], "there": values[1]}
    if pair.kind == "duplicate":
        params = {"probability": round(pair.probability, 2)}
    return Candidate(pair.finding, pair.kind, ids, Reason(code=pair.reason, params=params), pair.fingerprint)


def of_search(search: UnansweredSearch) -> Candidate:
    params: dict[str, str | int | float] = {"query": search.query, "count": search.count}
    params["last"] = search.last_at.date().isoformat()
    return Candidate(_search_id(search.query), "unanswered", (), Reason(code="unanswered", params=params), "unanswered")


def _search_id(query: str) -> str:
    """A hash, because decisions and the audit log keep it after the user has withdrawn the recorded searches."""
    return f"unanswered:{sha256(query.encode()).hexdigest()[:16]}"


def stale(notes: Collection[ReviewNote], uses: Mapping[str, datetime], *, before: datetime) -> list[Candidate]:
    """Not confirmed, changed, shown or opened for long; the oldest first."""
    seen = {note.id: max(filter(None, (note.updated_at, note.confirmed_at, uses.get(note.id)))) for note in notes}
    old = sorted((at, note) for note, at in seen.items() if at < before)
    return [
        Candidate(
            f"stale:{note}",
            "stale",
            (note,),
            Reason(code="stale", params={"since": at.date().isoformat()}),
            "stale",
        )
        for at, note in old
    ]


def code_changed(found: Iterable[tuple[Note, AnchorReport]]) -> list[Candidate]:
    """Notes whose code has changed or is gone. A decision holds until the code changes again."""
    return [
        Candidate(
            f"code:{note.id}",
            "stale",
            (note.id,),
            Reason(
                code="code_gone" if report.state == "gone" else "code_changed",
                params={"path": note.anchor.path if note.anchor else "", "percent": round((report.changed or 0) * 100)},
            ),
            f"code {report.state} {report.fingerprint or report.detail}",
        )
        for note, report in found
    ]


def orphaned(notes: Collection[ReviewNote], known_users: Collection[str] | None) -> list[Candidate]:
    """Of authors who are no users any more."""
    if known_users is None:
        return []
    return [
        Candidate(
            f"orphaned:{note.id}",
            "orphaned",
            (note.id,),
            Reason(code="orphaned", params={"author": note.user_id}),
            f"orphaned {note.user_id}",
        )
        for note in sorted(notes, key=lambda note: (note.user_id, note.id))
        if note.user_id not in known_users
    ]
