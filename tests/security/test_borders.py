"""What two modules must agree on: hooks and rights, imports and versions, the trash and what names its notes; on both
databases."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from threading import Barrier

import pytest
from tests.fakes.both_databases import OpenStore, open_store, server, store
from tests.security.conftest import Team
from tests.security.test_hidden_notes import save

from chie.access.identity import User, acting_as
from chie.errors import ChieError
from chie.knowledge.history.history import History
from chie.knowledge.inbox.inbox import Inbox
from chie.knowledge.markdown.note_file import derived_id
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sql_store import SqlNoteStore

__all__ = ["open_store", "server", "store"]

pytestmark = pytest.mark.req("MT-1")
API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
ROUNDS = 15


def at_once(*works: tuple[User, Callable[[], object]]) -> list[str]:
    """What became of each: "done" or the code of its error."""
    start = Barrier(len(works))

    def run(work: tuple[User, Callable[[], object]]) -> str:
        with acting_as(work[0]):
            start.wait()
            try:
                work[1]()
            except ChieError as error:
                return error.code
        return "done"

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def test_nothing_waits_to_supersede_the_note_of_another_author(team: Team) -> None:
    """Of a note in the trash, and of a file that its owner has yet to import."""
    trashed = save(team, "aki", "the heron protocol needs a key of 20 characters")
    team.call("aki", "DELETE", f"{API}/{trashed}")
    planned = derived_id("README.md", "aki")
    moment = "2026-01-01T00:00:00Z"
    newer = {"id": "k-newer", "title": "t", "content": "never mind", "supersedes": [trashed, planned, team.trashed_id]}
    dates = {"created_at": moment, "updated_at": moment}
    assert team.call("ben", "PUT", f"{API}/k-newer", json={**newer, **dates}).json()["supersedes"] == [planned]
    assert team.call("aki", "POST", f"{API}/trash/{trashed}/restore").status_code == 200
    file = {"files": ("README.md", b"the heron crossing manual", "text/markdown")}
    assert team.call("aki", "POST", f"{API}/import", files=file).json()["saved"] == 1
    for query in ("heron protocol", "heron crossing manual"):
        found = team.call("root", "GET", f"{API}/search", params={"q": query}).json()["hits"]
        assert query in found[0]["hit"]["content"]
        assert "superseded_by" not in found[0]["hit"], found
        assert "superseded_by" not in team.call("aki", "GET", f"{API}/{found[0]['hit']['id']}").json()


def test_what_is_deleted_for_good_is_not_restored_at_once(store: SqlNoteStore, open_store: OpenStore) -> None:
    """Of a deletion for good and a restoration in two processes, one finds that the other was first."""
    with closing(open_store()) as other:
        first, second = KnowledgeService(store), KnowledgeService(other)
        for number in range(ROUNDS):
            with acting_as(AKI):
                deleted = first.save(f"deleted {number}").id
                first.delete(deleted)
                rejected = first.save(f"proposed {number}", proposal=True).id
            with acting_as(BEN):
                Inbox(first).reject(rejected)
            restorations: list[tuple[str, User, Callable[[str], object]]] = [
                (deleted, AKI, History(second).restore_trashed),
                (rejected, BEN, Inbox(second).undo),
            ]
            for note_id, user, restore in restorations:
                purge = partial(History(first).purge, note_id)
                results = at_once((AKI, purge), (user, partial(restore, note_id)))
                assert results.count("done") == 1, results
                assert (store.get(note_id) is None) == (results[0] == "done"), results
                assert store.trashed(note_id) is None


def test_undoing_a_rejection_leaves_a_later_deletion_alone(team: Team) -> None:
    """The author took the proposal back, changed it and deleted it."""
    sent = {"content": "the first proposal", "proposal": True}
    note_id = team.tool("aki", "knowledge", "save_knowledge", **sent)["structuredContent"]["id"]
    assert team.call("ben", "POST", f"{API}/inbox/{note_id}/reject").status_code == 200
    assert team.call("aki", "POST", f"{API}/trash/{note_id}/restore").status_code == 200
    assert team.call("aki", "PATCH", f"{API}/{note_id}", json={"content": "changed"}).status_code == 200
    assert team.call("aki", "DELETE", f"{API}/{note_id}").status_code == 200
    undone = team.call("ben", "POST", f"{API}/inbox/{note_id}/undo")
    assert (undone.status_code, undone.json()["code"]) == (409, "knowledge.decision_outdated")
    assert note_id in [note["id"] for note in team.call("aki", "GET", f"{API}/trash").json()["notes"]]


def test_two_notes_never_supersede_each_other(store: SqlNoteStore, open_store: OpenStore) -> None:
    with closing(open_store()) as other:
        first, second = KnowledgeService(store), KnowledgeService(other)
        for number in range(ROUNDS):
            with acting_as(AKI):
                one, two = first.save(f"one {number}").id, first.save(f"two {number}").id
            forth, back = partial(first.update, one, supersedes=[two]), partial(second.update, two, supersedes=[one])
            results = at_once((AKI, forth), (AKI, back))
            assert sorted(results) == ["done", "knowledge.supersedes_in_circle"], results
