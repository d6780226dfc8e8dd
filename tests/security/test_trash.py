"""An id in the trash belongs to its author, whichever way somebody else names it; on both databases."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.contract.note_store import MOMENT
from tests.fakes.both_databases import OpenStore, open_store, server, store
from tests.security.conftest import Team, exported

from chie.access.identity import User, acting_as
from chie.errors import ChieError
from chie.knowledge.history.history import History
from chie.knowledge.history.versions import Change
from chie.knowledge.note import Note, now
from chie.knowledge.samples import SAMPLES
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sql_store import SqlNoteStore

__all__ = ["open_store", "server", "store"]

pytestmark = pytest.mark.req("MT-1")
API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
ROUNDS = 20


def put(team: Team, who: str, note_id: str, **fields: Any) -> Any:
    note = {"id": note_id, "title": "mine", "content": "mine now", "user_id": who}
    dates = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    return team.call(who, "PUT", f"{API}/{note_id}", json={**note, **dates, **fields})


def upload(team: Team, who: str, note_id: str, **form: Any) -> Any:
    file = {"files": ("note.md", exported(note_id, "mine now").encode(), "text/markdown")}
    return team.call(who, "POST", f"{API}/import", files=file, data=form)


def trash_of(team: Team, who: str) -> list[str]:
    return [note["id"] for note in team.call(who, "GET", f"{API}/trash").json()["notes"]]


def shared_in_trash(team: Team) -> str:
    team.call("aki", "DELETE", f"{API}/{team.shared_id}")
    return team.shared_id


@pytest.mark.parametrize("expired", [False, True])
def test_another_user_takes_no_note_out_of_the_trash(team: Team, store: SqlNoteStore, *, expired: bool) -> None:
    private, shared = team.trashed_id, shared_in_trash(team)
    if expired:  # and not purged yet
        for note_id in (private, shared):
            age(store, note_id)
    kept = {note_id: store.versions(note_id, limit=9) for note_id in (private, shared)}
    living = put(team, "ben", team.note_id)  # another user's private note that exists: an id in the trash looks alike
    for note_id, status in ((private, 404), (shared, 403)):
        answer = put(team, "ben", note_id)
        assert answer.status_code == status, answer.text
        assert status == 403 or answer.json() == living.json()
        for overwrite in (False, True):
            refused = upload(team, "ben", note_id, overwrite=overwrite).json()
            assert (refused["saved"], list(refused["refused_code"])) == (0, ["note.md"]), refused
        assert team.call("ben", "GET", f"{API}/{note_id}").status_code == 404
        assert team.call("ben", "DELETE", f"{API}/{note_id}/history").status_code == 404
    assert {note_id: store.versions(note_id, limit=9) for note_id in (private, shared)} == kept
    if not expired:
        assert trash_of(team, "aki") == [shared, private]
        assert team.call("aki", "POST", f"{API}/trash/{private}/restore").status_code == 200


def test_an_import_does_not_hide_a_note_that_its_author_restores(team: Team) -> None:
    shared = shared_in_trash(team)
    assert put(team, "ben", "k-newer", supersedes=[shared, "k-not-imported-yet"]).json()["supersedes"] == [
        "k-not-imported-yet"
    ]
    assert put(team, "aki", "k-own", user_id="aki", supersedes=[shared]).json()["supersedes"] == [shared]


def test_admin_restores_a_note_as_its_authors(team: Team) -> None:
    shared = shared_in_trash(team)
    assert put(team, "root", team.trashed_id).status_code == 404, "private"
    answer = put(team, "root", shared, user_id="root")
    assert (answer.status_code, answer.json()["user_id"]) == (200, "aki")
    assert team.call("aki", "DELETE", f"{API}/{shared}").status_code == 200


def test_author_takes_the_own_note_out_of_the_trash(team: Team) -> None:
    assert put(team, "aki", team.trashed_id, private=True).status_code == 200
    assert trash_of(team, "aki") == []
    team.call("aki", "DELETE", f"{API}/{team.trashed_id}")
    assert upload(team, "aki", team.trashed_id).json()["saved"] == 1


def test_samples_leave_the_trash_alone(team: Team) -> None:
    ids = team.call("aki", "POST", f"{API}/samples").json()["ids"]
    assert len(ids) == len(SAMPLES)
    team.call("aki", "DELETE", f"{API}/{ids[0]}")
    added = team.call("ben", "POST", f"{API}/samples")
    assert (added.status_code, added.json()["ids"]) == (201, ids[1:])
    assert ids[0] in trash_of(team, "aki")


def age(store: SqlNoteStore, note_id: str) -> None:
    """As if the note had been deleted long ago."""
    trashed = store.trashed(note_id)
    assert trashed is not None
    assert trashed.note is not None
    assert store.purge(note_id, deleted=True)
    store.save(trashed.note)
    long_ago = now() - timedelta(days=400)
    store.delete(note_id, change=Change(kind="deleted", by="aki", at=long_ago))


def at_once(*works: Callable[[], object]) -> None:
    def run(work: Callable[[], object]) -> None:
        with suppress(ChieError):
            work()

    with ThreadPoolExecutor(len(works)) as pool:
        list(pool.map(run, works))


def test_a_deletion_and_a_claim_at_once_leave_the_note_its_authors(store: SqlNoteStore, open_store: OpenStore) -> None:
    """A second process names the id while the first deletes the note, and while it deletes the history."""
    with closing(open_store()) as other:
        first, second = KnowledgeService(store), KnowledgeService(other)
        for number in range(ROUNDS):
            note = Note(id=f"k-{number}", title="t", content="aki's", created_at=MOMENT, updated_at=MOMENT)
            with acting_as(AKI):
                note = first.restore(note)
                first.update(note.id, content="changed")

            def take(taken: Note = note) -> None:
                with acting_as(BEN):
                    second.restore(replace(taken, content="ben's"))

            def delete(deleted: Note = note) -> None:
                with acting_as(AKI):
                    first.delete(deleted.id)

            def forget(known: Note = note) -> None:
                with acting_as(AKI):
                    History(second).forget(known.id)

            at_once(delete, take, forget)
            with acting_as(AKI):
                restored = History(first).restore_trashed(note.id)
            assert (restored.user_id, restored.content) == ("aki", "changed")
