"""Links between notes: what they lead to, backlinks, renaming, and what others may not see."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import page, service, store

from chie.access.identity import User, acting_as
from chie.knowledge.history.history import History
from chie.knowledge.history.versions import Change
from chie.knowledge.links.links import Links
from chie.knowledge.links.text import ids_in, renamed, titles_in
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.version_table import VersionTable

__all__ = ["page", "service", "store"]

pytestmark = pytest.mark.req("MT-5")

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")


def create(page: TestClient, title: str, content: str) -> str:
    return str(page.post(API, json={"title": title, "content": content}).json()["id"])


def links(page: TestClient, note_id: str) -> Any:
    return page.get(f"{API}/{note_id}/links").json()


def test_links_lead_to_notes_and_notes_know_who_links_to_them(page: TestClient) -> None:
    target = create(page, "nginx の 413", "raise it")
    by_title = create(page, "Uploads", "see [[Nginx の 413|the limit]] and [[no such note]]")
    by_id = create(page, "Proxy", f"see [the limit](note://{target})")
    create(page, "Code", f"`[[nginx の 413]]` and\n\n```\nnote://{target}\n```")
    assert links(page, by_title) == {
        "links": [{"target": "Nginx の 413", "id": target, "title": "nginx の 413"}],
        "backlinks": [],
    }
    assert links(page, by_id)["links"] == [{"target": f"note://{target}", "id": target, "title": "nginx の 413"}]
    assert links(page, target) == {
        "links": [],
        "backlinks": [{"id": by_id, "title": "Proxy"}, {"id": by_title, "title": "Uploads"}],
    }


def test_private_notes_of_others_neither_resolve_nor_link(service: KnowledgeService) -> None:
    with acting_as(AKI):
        hidden = service.save("secret", title="The plan", private=True).id
        service.save("see [[Roadmap]]", title="mine", private=True)
    with acting_as(BEN):
        roadmap = service.save("see [[The plan]] and note://" + hidden, title="Roadmap").id
        assert (Links(service).of(roadmap).links, Links(service).of(roadmap).backlinks) == ([], [])
    with acting_as(AKI):
        found = Links(service).of(roadmap)
        assert [link.id for link in found.links] == [hidden, hidden]
        assert [link.title for link in found.backlinks] == ["mine"]


def test_a_new_title_is_followed_in_the_notes_that_one_may_change(service: KnowledgeService) -> None:
    with acting_as(AKI):
        target = service.save("x", title="Old title", origin="person").id
        mine = service.save("see [[old title|here]], `[[Old title]]`", title="Mine", origin="person").id
    with acting_as(BEN):
        other = service.save("see [[Old title]]", title="Of Ben").id
    with acting_as(AKI):
        service.update(target, title="新しい題")
        assert service.get(mine).content == "see [[新しい題|here]], `[[Old title]]`"
        assert service.get(mine).confirmed_by == "aki"
        assert service.get(other).content == "see [[Old title]]"
        assert {link.id for link in Links(service).of(target).backlinks} == {mine, other}
        (link,) = Links(service).of(other).links
        assert (link.target, link.id, link.title) == ("Old title", target, "新しい題")
        assert [version.by for version in History(service).versions(mine).versions] == ["aki", "aki"]


def test_a_rename_and_its_links_are_stored_together_or_not_at_all(
    service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = service.save("x", title="Old").id
    linking = [service.save(f"{number} [[Old]]", title=f"Linking {number}").id for number in range(3)]
    written = VersionTable.replace

    def fail(self: VersionTable, connection: object, stored: Note, note: Note, change: Change) -> None:
        written(self, connection, stored, note, change)
        if note.id == linking[0]:
            raise RuntimeError("interrupted")

    with monkeypatch.context() as patch:
        patch.setattr(VersionTable, "replace", fail)
        with pytest.raises(RuntimeError, match="interrupted"):
            service.update(target, title="New")
    assert service.get(target).title == "Old"
    assert [service.get(one).content for one in linking] == [f"{number} [[Old]]" for number in range(3)]
    assert service.store.walk_versions(after=None, limit=9) == []
    service.update(target, title="New")
    assert [service.get(one).content for one in linking] == [f"{number} [[New]]" for number in range(3)]
    assert [row.note for row in service.store.walk_versions(after=None, limit=9)] == sorted([target, *linking])


def test_a_linking_note_that_changes_all_the_time_does_not_stop_a_rename(
    service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = service.save("x", title="Old").id
    linking = service.save("0 [[Old]]", title="Linking").id
    replace_all = service.store.replace_all

    def at_once(replacements: list[tuple[Note, Note]], **options: Any) -> object:
        other = service.get(linking)
        service.store.save(replace(other, content=f"1{other.content}"), replacing=other)
        return replace_all(replacements, **options)

    monkeypatch.setattr(service.store, "replace_all", at_once)
    service.update(target, title="New")
    assert service.get(target).title == "New"
    assert service.get(linking).content == "110 [[Old]]"
    assert [link.id for link in Links(service).of(linking).links] == [target]


def test_a_note_that_another_absorbs_goes_to_the_trash_as_it_was(service: KnowledgeService) -> None:
    target = service.save("x", title="Old").id
    absorbed = service.get(service.save("y [[Old]]", title="Linking").id)
    service.update(target, title="New", content="x and y", absorbing=absorbed)
    assert (service.get(target).title, service.find(absorbed.id)) == ("New", None)
    (deleted,) = service.store.trash(viewer=service.viewer(), after=service.trash_begins(), limit=9)
    assert (deleted.note, deleted.change.kind) == (absorbed, "deleted")


def test_titles_stay_in_the_spaces_whose_readers_may_know_them(service: KnowledgeService) -> None:
    for name in ("closed", "infra"):
        service.store.spaces.save(Space(name=name, grants={"aki": "write"}))
    with acting_as(AKI):
        target = service.save("x", title="Alpha", space="closed").id
        texts = {space: service.save("see [[Alpha]]", title=space, space=space).id for space in ("closed", "infra")}
        texts["team"] = service.save("see [[Alpha]]", title="team").id
        service.update(target, title="Merger")
        found = {space: service.get(note).content for space, note in texts.items()}
        assert found == {"closed": "see [[Merger]]", "infra": "see [[Alpha]]", "team": "see [[Alpha]]"}
        assert [link.id for link in Links(service).of(texts["team"]).links] == [target]
    with acting_as(BEN):
        assert Links(service).of(texts["team"]).links == []


def test_a_former_title_of_a_private_note_stays_secret(service: KnowledgeService) -> None:
    with acting_as(AKI):
        target = service.save("x", title="Layoffs", private=True).id
        service.update(target, title="Reorganisation")
        service.update(target, private=False)
    with acting_as(BEN):
        guess = service.save("see [[Layoffs]]", title="Guess").id
        assert Links(service).of(guess).links == []
        assert Links(service).of(target).backlinks == []
    with acting_as(AKI):
        assert [link.id for link in Links(service).of(guess).links] == [target]


def test_restoring_a_version_with_another_title_keeps_links(service: KnowledgeService) -> None:
    target = service.save("x", title="Old").id
    service.update(target, title="New")
    linking = service.save("see [[New]] and [[old]]", title="Linking").id
    History(service).restore_version(target, 1)
    assert [(link.target, link.title) for link in Links(service).of(linking).links] == [("New", "Old"), ("old", "Old")]
    assert [link.id for link in Links(service).of(target).backlinks] == [linking]


def test_a_title_that_another_note_has_too_is_not_followed(service: KnowledgeService) -> None:
    first, second = (service.save(text, title="Same").id for text in ("x", "y"))
    linking = service.save("see [[Same]]", title="Linking").id
    service.update(first, title="Other")
    assert service.get(linking).content == "see [[Same]]"
    assert [link.id for link in Links(service).of(linking).links] == [second]


def test_the_title_of_a_private_note_stays_out_of_shared_texts(service: KnowledgeService) -> None:
    with acting_as(AKI):
        hidden = service.save("x", title="Code name", private=True).id
        shared = service.save("see [[Code name]]", title="Shared").id
        own = service.save("see [[Code name]]", title="Own", private=True).id
        service.update(hidden, title="Layoffs")
        assert service.get(shared).content == "see [[Code name]]"
        assert service.get(own).content == "see [[Layoffs]]"


def test_an_export_and_import_keep_links(page: TestClient) -> None:
    target = create(page, "Target", "x")
    linking = create(page, "Linking", f"[[Target]] note://{target}")
    archive = page.get(f"{API}/export").content
    before = links(page, linking)
    for note_id in (target, linking):
        page.delete(f"{API}/{note_id}")
    page.post(f"{API}/import", files={"files": ("notes.zip", archive, "application/zip")})
    assert links(page, linking) == before
    assert len(before["links"]) == 2


def test_texts() -> None:
    text = "[[a]] [[ b |c]] [[a]] note://k-1 (note://k%202) `[[code]]`\n    [[d]]"
    assert titles_in(text) == ["a", "b", "d"]
    assert ids_in(text) == ["k-1", "k 2"]
    assert renamed("[[A]] [[b]]", "a", "x") == "[[x]] [[b]]"
    assert renamed("[[a]]", "a", "x|y") == "[[a]]"
