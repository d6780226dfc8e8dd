"""A deleted space leaves nothing to a new one of its name, and takes nothing with it; on both databases."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from tests.fakes.both_databases import OpenStore, open_store, server, store
from tests.security.conftest import SECRET, Team
from tests.security.test_hidden_notes import save

from chie.access.identity import User, acting_as
from chie.errors import ChieError, NotFoundError
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.spaces.spaces import Spaces
from chie.knowledge.store.sql_store import SqlNoteStore

__all__ = ["open_store", "server", "store"]

pytestmark = pytest.mark.req("MT-6")
API = "/api/knowledge"
AKI, ROOT = User("aki"), User("root", admin=True)
ROUNDS = 25


def json_of(team: Team, who: str, path: str, **params: Any) -> Any:
    answer = team.call(who, "GET", f"{API}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def trash_of(team: Team, who: str) -> list[str]:
    return [note["id"] for note in json_of(team, who, "/trash")["notes"]]


def export(team: Team, note_id: str) -> bytes:
    answer = team.call("aki", "GET", f"{API}/export")
    with ZipFile(BytesIO(answer.content)) as archive:
        return next(archive.read(name) for name in archive.namelist() if note_id in name)


@pytest.fixture
def vault(team: Team, store: SqlNoteStore) -> dict[str, str]:
    """A space of Aki's with a changed note, a private one, deleted ones, and one that has left it."""
    store.spaces.save(Space(name="vault", grants={"aki": "write"}))
    store.spaces.save(Space(name="hr", grants={"aki": "write", "ben": "read"}))
    texts = ("changed", "private", "gone", "left")
    ids = {text: save(team, "aki", f"{text} {SECRET}", space="vault", private=text == "private") for text in texts}
    team.call("aki", "PATCH", f"{API}/{ids['changed']}", json={"content": f"changed again {SECRET}"})
    team.call("aki", "PATCH", f"{API}/{ids['left']}", json={"content": "for everybody", "space": "team"})
    team.call("aki", "DELETE", f"{API}/{ids['gone']}")
    proposal = {"content": f"proposed {SECRET}", "space": "vault", "proposal": True}
    ids["rejected"] = team.tool("aki", "knowledge", "save_knowledge", **proposal)["structuredContent"]["id"]
    rejected = team.call("aki", "POST", f"{API}/inbox/{ids['rejected']}/reject")
    assert rejected.status_code == 200, rejected.text
    return ids


def test_what_was_in_a_deleted_space_follows_its_notes(team: Team, vault: dict[str, str], home: Path) -> None:
    refused = team.call("root", "DELETE", f"{API}/spaces/vault")
    assert (refused.status_code, refused.json()["code"]) == (409, "knowledge.space_not_empty")
    assert refused.json()["params"] == {"space": "vault", "notes": 2, "deleted": 2, "versions": 2}
    assert team.call("root", "DELETE", f"{API}/spaces/vault", params={"move_to": "hr"}).json() == {"moved": 2}
    team.call("root", "PUT", f"{API}/spaces/vault", json={"everybody": "write"})
    team.call("root", "PUT", f"{API}/spaces/vault/users/ben", json={"access": "write"})
    team.call("root", "PUT", f"{API}/spaces/hr/users/ben", json={"access": "none"})
    assert trash_of(team, "ben") == []
    assert SECRET not in str(json_of(team, "ben", f"/{vault['left']}/history"))
    assert team.call("ben", "GET", f"{API}/{vault['left']}/history/1").status_code == 404
    assert json_of(team, "ben", "/search", q=SECRET)["hits"] == []
    for who, seen in (("aki", {team.trashed_id, vault["gone"], vault["rejected"]}), ("root", {vault["gone"]})):
        assert set(trash_of(team, who)) == seen
    history = json_of(team, "aki", f"/{vault['changed']}/history")["versions"]
    assert [(one["kind"], one["by"], one["changes"]) for one in history] == [
        ("moved", "root", []), ("changed", "aki", ["content", "title"]), ("created", "aki", [])
    ]  # fmt: skip
    assert json_of(team, "aki", f"/{vault['changed']}/history/1")["space"] == "hr"
    lines = [json.loads(line) for line in (home / "audit.log").read_text("utf-8").splitlines()]
    moved = {line["id"] for line in lines if (line["kind"], line["user"]) == ("note.moved", "root")}
    assert moved == {vault["changed"], vault["private"]}
    undone = team.call("aki", "POST", f"{API}/inbox/{vault['rejected']}/undo")
    assert (undone.status_code, undone.json()["space"]) == (200, "hr")
    assert team.call("aki", "POST", f"{API}/trash/{vault['gone']}/restore").json()["space"] == "hr"


def at_once(*works: Callable[[], object]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()


def test_an_export_takes_no_note_into_a_new_space_of_the_name(team: Team, vault: dict[str, str]) -> None:
    file = export(team, vault["changed"])
    read = team.call("aki", "GET", f"{API}/{vault['changed']}").json()["updated_at"]
    team.call("root", "DELETE", f"{API}/spaces/vault", params={"move_to": "hr"})
    team.call("root", "PUT", f"{API}/spaces/vault", json={"everybody": "write"})
    team.call("root", "PUT", f"{API}/spaces/hr/users/ben", json={"access": "none"})
    imported = team.call("aki", "POST", f"{API}/import", files={"files": ("note.md", file, "text/markdown")}).json()
    assert (imported["saved"], imported["newer"]) == (0, ["note.md"])
    assert team.call("ben", "GET", f"{API}/{vault['changed']}").status_code == 404
    change = {"content": "written for the readers of the vault", "updated_at": read}
    assert team.call("aki", "PATCH", f"{API}/{vault['changed']}", json=change).status_code == 409


def test_no_note_is_lost_that_is_saved_while_its_space_is_deleted(store: SqlNoteStore, open_store: OpenStore) -> None:
    """By a second process, which also changes, deletes and moves notes of that space."""
    with closing(open_store()) as other:
        admin, user = KnowledgeService(store), KnowledgeService(other)
        for number in range(3):
            store.spaces.save(Space(name="vault", grants={"aki": "write"}))
            saved: list[str] = []

            def work(known: list[str] = saved) -> None:
                with acting_as(AKI), suppress(NotFoundError):
                    for text in range(ROUNDS):
                        known.append(user.save(f"note {text}", space="vault").id)
                        with suppress(ChieError):  # it has just been moved
                            user.update(known[-1], content="changed", space="team" if text % 3 == 0 else None)
                            if text % 5 == 0:
                                user.delete(known[-1])

            def delete() -> None:
                with acting_as(ROOT):
                    Spaces(admin).delete("vault", move_to="team")

            with acting_as(AKI):
                saved.append(user.save(f"the first of round {number}", space="vault").id)
            at_once(work, delete)
            for note_id in saved:
                trashed = store.trashed(note_id)
                note = trashed.note if trashed else store.get(note_id)
                assert note is not None
                assert {note.space, *(one.note.space for one in store.versions(note_id, limit=9) if one.note)} == {
                    "team"
                }


def test_a_revoked_grant_stays_revoked_while_the_space_is_renamed(store: SqlNoteStore, open_store: OpenStore) -> None:
    with closing(open_store()) as other:
        store.spaces.save(Space(name="vault"))

        def rename(title: str) -> None:
            with acting_as(ROOT):
                Spaces(KnowledgeService(other)).save("vault", title=title)

        def revoke() -> None:
            with acting_as(ROOT):
                Spaces(KnowledgeService(store)).grant("vault", "ben", "none")

        for number in range(4 * ROUNDS):
            store.spaces.grant("vault", "ben", "write")
            at_once(lambda title=f"Vault {number}": rename(title), revoke)  # type: ignore[misc]
            space = next(space for space in store.spaces.all() if space.name == "vault")
            assert (space.title, space.grants) == (f"Vault {number}", {})
