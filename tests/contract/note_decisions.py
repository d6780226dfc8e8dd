"""Two users who decide at once: what one of them has not seen is never deleted, overwritten or brought back.

The SQL stores' test modules subclass it. The other user's request runs at the worst moment: after the first one has
read everything, just before its transaction.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.contract.note_review import records_of
from tests.contract.note_store import a_note

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.errors import ConflictError
from chie.knowledge.inbox.inbox import Changes, Inbox
from chie.knowledge.note import Note
from chie.knowledge.review.findings import FoundPair
from chie.knowledge.review.review import Merged, Review
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.base import NoteStore

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
EDITED = "raise client_max_body_size, and the timeout too"


@dataclass
class Open:
    """A note, another one, a proposal, and a finding about the two notes."""

    store: NoteStore
    note: Note
    other: Note
    proposal: Note

    @property
    def service(self) -> KnowledgeService:
        return KnowledgeService(self.store)

    @property
    def finding(self) -> str:
        first, second = sorted((self.note.id, self.other.id))
        return f"contradiction:{first}:{second}"

    def accept(self) -> None:
        with acting_as(BEN):
            Inbox(self.service).accept(self.proposal.id, Changes(content=EDITED))

    def edit(self) -> None:
        with acting_as(BEN):
            self.service.update(self.note.id, content=EDITED)

    def edit_other(self) -> None:
        with acting_as(BEN):
            self.service.update(self.other.id, content=EDITED)


Decide = Callable[[Open], object]
DECISIONS: dict[str, tuple[Decide, Callable[[Open], None], Callable[[Open], str]]] = {
    "accept": (lambda one: Inbox(one.service).accept(one.proposal.id), Open.accept, lambda one: one.proposal.id),
    "reject": (lambda one: Inbox(one.service).reject(one.proposal.id), Open.accept, lambda one: one.proposal.id),
    "merge": (
        lambda one: Inbox(one.service).merge(one.proposal.id, one.note.id, content="merged"),
        Open.accept,
        lambda one: one.proposal.id,
    ),
    "merge into": (
        lambda one: Inbox(one.service).merge(one.proposal.id, one.note.id, content="merged"),
        Open.edit,
        lambda one: one.note.id,
    ),
    "delete": (
        lambda one: one.service.delete(one.note.id, seen=one.note.updated_at),
        Open.edit,
        lambda one: one.note.id,
    ),
    "archive": (
        lambda one: Review(one.service).decide(one.finding, "archive", note_id=one.note.id),
        Open.edit,
        lambda one: one.note.id,
    ),
    "merge notes": (
        lambda one: Review(one.service).decide(
            one.finding, "merge", note_id=one.other.id, merged=Merged(content="merged")
        ),
        Open.edit,
        lambda one: one.note.id,
    ),
    "supersede": (
        lambda one: Review(one.service).decide(one.finding, "supersede", note_id=one.other.id),
        Open.edit_other,
        lambda one: one.other.id,
    ),
}

Request = tuple[str, Callable[[Open], str], Callable[[Open, str, str], dict[str, Any]], bool]


def _review_request(action: str) -> Request:
    def body(one: Open, updated_at: str, _: str) -> dict[str, Any]:
        return {"finding": one.finding, "action": action, "content": "merged", "seen": {one.note.id: updated_at}}

    return "POST", lambda _: "/review/decisions", body, False


def send(page: TestClient, method: str, path: str, given: dict[str, Any]) -> Any:
    if method == "POST":
        return page.post(f"{API}{path}", json=given)
    return page.request(method, f"{API}{path}", params=given)


# What the page sends for a decision on the notes as it has shown them.
REQUESTS: dict[str, Request] = {
    "accept": ("POST", lambda one: f"/inbox/{one.proposal.id}/accept", lambda _, __, p: {"updated_at": p}, True),
    "reject": ("POST", lambda one: f"/inbox/{one.proposal.id}/reject", lambda _, __, p: {"updated_at": p}, True),
    "merge": (
        "POST",
        lambda one: f"/inbox/{one.proposal.id}/merge",
        lambda one, _, p: {"into": one.note.id, "content": "merged", "updated_at": p},
        True,
    ),
    "merge into": (
        "POST",
        lambda one: f"/inbox/{one.proposal.id}/merge",
        lambda one, n, _: {"into": one.note.id, "content": "merged", "into_updated_at": n},
        False,
    ),
    "delete": ("DELETE", lambda one: f"/{one.note.id}", lambda _, n, __: {"updated_at": n}, False),
    "confirm": ("PUT", lambda one: f"/{one.note.id}/confirmation", lambda _, n, __: {"updated_at": n}, False),
    "withdraw": ("DELETE", lambda one: f"/{one.note.id}/confirmation", lambda _, n, __: {"updated_at": n}, False),
    **{action: _review_request(action) for action in ("keep", "merge", "supersede", "archive", "dismiss")},
}


@contextmanager
def just_before_writing(store: NoteStore, other: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the other user's request when the first one is about to write."""
    with monkeypatch.context() as patch:

        def interrupted(name: str) -> Callable[..., Any]:
            real = getattr(store, name)

            def write(*arguments: Any, **named: Any) -> Any:
                patch.undo()
                other()
                return real(*arguments, **named)

            return write

        for name in ("save", "delete", "replace_all"):
            patch.setattr(store, name, interrupted(name))
        yield


class NoteDecisionContract:
    @pytest.fixture
    def waiting(self, store: NoteStore) -> Open:
        fields = {"user_id": "ben", "confirmed_by": "ben"}
        found = Open(
            store,
            a_note("the limit is 30 s", **fields),
            a_note("the limit is 60 s", **fields),
            a_note("raise client_max_body_size", user_id="aki", proposal=True),
        )
        for note in (found.note, found.other, found.proposal):
            store.save(note)
        first, second = sorted((found.note.id, found.other.id))
        pair = FoundPair(
            a=first, b=second, kind="contradiction", probability=0.9, reason="number", here="30 s", there="60 s"
        )
        notes = {note.id: note.updated_at.isoformat() for note in (found.note, found.other)}
        records_of(store).store_pairs(notes, [pair])
        return found

    @pytest.fixture
    def page(self, store: NoteStore) -> Iterator[TestClient]:
        with TestClient(
            create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080"
        ) as client:
            yield client

    @pytest.mark.req("ME-7")
    @pytest.mark.parametrize("name", DECISIONS)
    def test_what_another_user_has_just_written_survives_every_decision(
        self, waiting: Open, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        decide, interrupt, changed = DECISIONS[name]
        with (
            acting_as(BEN),
            just_before_writing(waiting.store, lambda: interrupt(waiting), monkeypatch),
            pytest.raises(ConflictError) as caught,
        ):
            decide(waiting)
        assert caught.value.code == "knowledge.note_changed"
        kept = waiting.store.get(changed(waiting))
        assert kept is not None
        assert kept.content == EDITED
        assert not kept.proposal
        for note in (waiting.note, waiting.other):
            assert waiting.store.get(note.id) is not None

    @pytest.mark.req("ME-7")
    @pytest.mark.parametrize("name", REQUESTS)
    def test_a_decision_on_a_note_that_has_changed_since_it_was_shown_is_refused(
        self, waiting: Open, page: TestClient, name: str
    ) -> None:
        method, path, body, of_proposal = REQUESTS[name]
        shown = [page.get(f"{API}/{waiting.note.id}").json(), page.get(f"{API}/inbox").json()["proposals"][0]["note"]]
        stored = waiting.proposal if of_proposal else waiting.note
        changed = replace(stored, content=EDITED, updated_at=stored.updated_at + timedelta(minutes=1))
        waiting.store.save(changed, replacing=stored)
        given = body(waiting, shown[0]["updated_at"], shown[1]["updated_at"])
        refused = send(page, method, path(waiting), given)
        assert (refused.status_code, refused.json()["code"]) == (409, "knowledge.note_changed"), refused.text
        assert waiting.store.get(stored.id) == changed
        assert page.get(f"{API}/inbox/count").json() == {"total": 1}

    @pytest.mark.req("ME-7")
    @pytest.mark.parametrize("name", REQUESTS)
    def test_a_decision_on_notes_as_they_were_shown_is_carried_out(
        self, waiting: Open, page: TestClient, name: str
    ) -> None:
        method, path, body, _ = REQUESTS[name]
        shown = [page.get(f"{API}/{waiting.note.id}").json(), page.get(f"{API}/inbox").json()["proposals"][0]["note"]]
        given = body(waiting, shown[0]["updated_at"], shown[1]["updated_at"])
        done = send(page, method, path(waiting), given)
        assert done.status_code in (200, 201), done.text

    @pytest.mark.req("ME-7")
    def test_a_decision_that_lost_leaves_the_other_users_undo(
        self, waiting: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inbox = Inbox(waiting.service)
        with (
            acting_as(AKI),
            just_before_writing(waiting.store, waiting.accept, monkeypatch),
            pytest.raises(ConflictError),
        ):
            inbox.reject(waiting.proposal.id)
        with acting_as(BEN):
            inbox.undo(waiting.proposal.id)
        assert waiting.store.get(waiting.proposal.id) == waiting.proposal

    def test_a_note_without_a_seen_version_is_deleted_as_it_is(
        self, waiting: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with acting_as(BEN), just_before_writing(waiting.store, waiting.edit, monkeypatch):
            deleted = waiting.service.delete(waiting.note.id)
        assert deleted.content == EDITED
        assert waiting.store.get(waiting.note.id) is None

    @pytest.mark.req("ME-7")
    def test_a_proposal_is_not_merged_into_itself(self, waiting: Open, page: TestClient) -> None:
        path = f"{API}/inbox/{waiting.proposal.id}/merge"
        with acting_as(AKI), pytest.raises(Exception, match="itself") as caught:
            Inbox(waiting.service).merge(waiting.proposal.id, f" {waiting.proposal.id} ", content="merged")
        assert getattr(caught.value, "code", "") == "knowledge.merge_into_itself"
        page.post(path, json={"into": waiting.proposal.id, "content": "merged"})
        assert waiting.store.get(waiting.proposal.id) == waiting.proposal
