"""What two modules must agree on: hooks and rights, imports and versions, the trash and what names its notes; on both
databases."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from threading import Barrier
from typing import Any

import pytest
from tests.fakes.both_databases import OpenStore, open_store, server, store
from tests.security.conftest import SECRET, Team
from tests.security.test_hidden_notes import save

from chie.access.identity import User, acting_as
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.errors import ChieError
from chie.knowledge.history.history import History
from chie.knowledge.inbox.inbox import Inbox
from chie.knowledge.markdown.note_file import derived_id, write
from chie.knowledge.note import Note
from chie.knowledge.review import scan
from chie.knowledge.samples import SAMPLES, add_samples
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sql_store import SqlNoteStore
from chie.settings import load

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


def test_a_hook_changes_no_note_that_its_token_only_reads(team: Team) -> None:
    users = UserFile(load(AccessSettings).users_path)
    team.tokens["reader"] = users.add_token("aki", spaces={"team": "read"})
    note_id = save(team, "aki", "what the build needs")
    before = team.call("aki", "GET", f"{API}/{note_id}/history").json()
    shell = {"tool_name": "Bash", "tool_input": {"command": "make x"}}
    saved = {"tool_name": "save_knowledge", "tool_response": {"id": note_id, "updated_at": "now"}}
    saved |= {"code_anchor": {"repository": "github.com/org/repo", "path": "a.py", "lines": "1-2"}}
    events = (
        {"hook_event_name": "PostToolUseFailure", **shell, "error": "ValueError: broken thing in module foo"},
        {"hook_event_name": "PostToolUse", **shell, "tool_response": "ok"},
        {"hook_event_name": "PostToolUse", **saved},
    )

    def report(who: str) -> Any:
        for event in events:
            answer = team.call(who, "POST", "/hooks/claude-code", json={"session_id": who, **event})
            assert answer.status_code == 200, answer.text
        return team.call("aki", "GET", f"{API}/{note_id}/history").json()

    assert report("reader") == before
    assert report("aki")["versions"][0]["changes"] == ["anchor", "signatures"]


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


def test_an_edited_export_is_a_version_that_readers_have_not_seen(team: Team) -> None:
    note_id = save(team, "aki", "the first text")
    seen = team.call("aki", "GET", f"{API}/{note_id}").json()
    note = Note(**{name: seen[name] for name in ("id", "title", "content", "user_id", "created_at", "updated_at")})
    edited = write(note).replace("the first text", "the text of the file").encode()

    def upload() -> Any:
        files = {"files": ("note.md", edited, "text/markdown")}
        return team.call("aki", "POST", f"{API}/import", files=files).json()

    assert upload()["saved"] == 1
    body = {"content": "the text of the page", "updated_at": seen["updated_at"]}
    assert team.call("aki", "PATCH", f"{API}/{note_id}", json=body).status_code == 409
    assert team.call("aki", "GET", f"{API}/{note_id}").json()["content"] == "the text of the file"
    assert upload()["unchanged"] == 1


def test_the_review_does_not_count_notes_that_the_reader_cannot_see(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert team.call("root", "GET", f"{API}/review").json()["pending"] == 0
    ticks = count(step=1_000)  # so that each request compares one batch
    monkeypatch.setattr(scan, "monotonic", lambda: next(ticks))
    for number in range(20):
        save(team, "aki", f"{SECRET} number {number}", private=True)
    for _ in range(5):
        assert team.call("ben", "GET", f"{API}/review").json()["pending"] == 0
    assert team.call("aki", "GET", f"{API}/review").json()["pending"] > 0


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


def test_samples_are_added_once_by_two_users(store: SqlNoteStore, open_store: OpenStore) -> None:
    with closing(open_store()) as other:
        adding = [partial(add_samples, KnowledgeService(one)) for one in (store, other)]
        assert at_once((AKI, adding[0]), (BEN, adding[1])) == ["done", "done"]
    assert store.count() == len(SAMPLES)


def test_two_notes_never_supersede_each_other(store: SqlNoteStore, open_store: OpenStore) -> None:
    with closing(open_store()) as other:
        first, second = KnowledgeService(store), KnowledgeService(other)
        for number in range(ROUNDS):
            with acting_as(AKI):
                one, two = first.save(f"one {number}").id, first.save(f"two {number}").id
            forth, back = partial(first.update, one, supersedes=[two]), partial(second.update, two, supersedes=[one])
            results = at_once((AKI, forth), (AKI, back))
            assert sorted(results) == ["done", "knowledge.supersedes_in_circle"], results
