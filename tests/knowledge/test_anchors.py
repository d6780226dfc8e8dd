"""Anchors to code over HTTP, MCP and in files: what is stored, shown and refused, and what a report does."""

from typing import Any

import pytest
from fastmcp import Client
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import page, service, store

from chie.access.identity import User, acting_as
from chie.errors import ValidationError
from chie.knowledge.anchors.anchor import Anchor, parse_source, permalink_anchor
from chie.knowledge.anchors.reports import AnchorReports, Check
from chie.knowledge.anchors.validation import valid_anchor
from chie.knowledge.note import now
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message

__all__ = ["page", "service", "store"]

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
GIVEN = {"repository": "git@GitHub.com:Org/Repo.git", "path": "src/app.py", "lines": "L10-L20", "commit": "ABCDEF0"}
STORED = {"repository": "github.com/org/repo", "path": "src/app.py", "lines": "10-20", "commit": "abcdef0"}


def create(page: TestClient, **fields: Any) -> str:
    answer = page.post(API, json={"content": "retries are capped here", "anchor": GIVEN, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def report(page: TestClient, note_id: str, state: str = "changed", **fields: Any) -> Any:
    anchor = page.get(f"{API}/{note_id}").json()["anchor"]
    check = {"id": note_id, "anchor": anchor, "state": state, "detail": "edited", "changed": 0.4} | fields
    body = {"commit": "b" * 40, "committed_at": "2026-03-01T09:00:00Z", "checks": [check]}
    return page.post(f"{API}/anchors", json=body)


@pytest.mark.req("MT-4")
def test_an_anchor_is_normalised_stored_changed_and_removed(page: TestClient) -> None:
    note_id = create(page)
    assert _given(page.get(f"{API}/{note_id}").json()["anchor"]) == STORED
    page.patch(f"{API}/{note_id}", json={"anchor": {"repository": "github.com/org/repo", "path": "./a/b.py"}})
    assert _given(page.get(f"{API}/{note_id}").json()["anchor"]) == {
        "repository": "github.com/org/repo",
        "path": "a/b.py",
    }
    page.patch(f"{API}/{note_id}", json={"title": "Retries"})
    assert "anchor" in page.get(f"{API}/{note_id}").json()
    page.patch(f"{API}/{note_id}", json={"anchor": {"repository": "", "path": ""}})
    assert "anchor" not in page.get(f"{API}/{note_id}").json()


@pytest.mark.req("MT-4")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"path": "../secret"}, "anchor_path_invalid"),
        ({"path": "/etc/passwd"}, "anchor_path_invalid"),
        ({"path": "C:\\work\\a.py"}, "anchor_path_invalid"),
        ({"path": ""}, "anchor_path_invalid"),
        ({"repository": ""}, "anchor_repository_invalid"),
        ({"repository": "my repository"}, "anchor_repository_invalid"),
        ({"lines": "20-10"}, "anchor_lines_invalid"),
        ({"lines": "0"}, "anchor_lines_invalid"),
        ({"lines": "ten"}, "anchor_lines_invalid"),
        ({"commit": "main"}, "anchor_commit_invalid"),
        ({"fingerprint": "abc"}, "anchor_fingerprint_invalid"),
    ],
)
def test_a_wrong_anchor_is_refused_with_what_to_do(page: TestClient, change: dict[str, str], code: str) -> None:
    answer = page.post(API, json={"content": "x", "anchor": GIVEN | change})
    assert (answer.status_code, answer.json()["code"]) == (400, f"knowledge.{code}")
    assert Message(f"knowledge.{code}").text("ja") != answer.json()["detail"] == Message(f"knowledge.{code}").text("en")


@pytest.mark.req("MT-4")
async def test_assistants_save_anchors_and_see_what_has_become_of_the_code(
    page: TestClient, store: SqliteStore
) -> None:
    async with Client(create_server(store=store)) as client:
        saved = await client.call_tool("save_knowledge", {"content": "再試行は 3 回まで", "anchor": GIVEN})
        note_id = saved.structured_content["id"]
        hit = (await client.call_tool("search_knowledge", {"query": "再試行"})).structured_content["hits"][0]
        assert _given(hit["anchor"]) == STORED
        assert "anchor_report" not in hit
        assert report(page, note_id).json() == {"stored": 1}
        read = (await client.call_tool("get_knowledge", {"id": note_id})).structured_content
        hit = (await client.call_tool("search_knowledge", {"query": "再試行"})).structured_content["hits"][0]
        assert read["anchor_report"] == hit["anchor_report"]
        assert (read["anchor_report"]["state"], read["anchor_report"]["changed"]) == ("changed", 0.4)
        await client.call_tool("update_knowledge", {"id": note_id, "anchor": GIVEN | {"commit": "b" * 40}})
        read = (await client.call_tool("get_knowledge", {"id": note_id})).structured_content
        assert "anchor_report" not in read
        plain = await client.call_tool("save_knowledge", {"content": "plain"})
        read = (await client.call_tool("get_knowledge", {"id": plain.structured_content["id"]})).structured_content
        assert "anchor" not in read


@pytest.mark.req("MT-4")
def test_a_report_says_who_and_when_and_the_note_is_listed_for_review(page: TestClient) -> None:
    note_id = create(page)
    assert page.get(f"{API}/anchors", params={"repository": "https://github.com/org/repo.git"}).json() == {
        "notes": [{"id": note_id, "title": "retries are capped here", "anchor": _read(page, note_id), "report": None}]
    }
    assert page.get(f"{API}/anchors/changed").json() == {"notes": []}
    report(page, note_id, path="src/main.py", lines="12-22")
    [listed] = page.get(f"{API}/anchors/changed").json()["notes"]
    assert listed["id"] == note_id
    found = listed["report"]
    assert (found["path"], found["lines"], found["commit"]) == ("src/main.py", "12-22", "b" * 40)
    assert found["reported_by"] == "anonymous"
    assert found["reported_at"] > "2026"


@pytest.mark.req("MT-4")
def test_a_report_on_an_anchor_that_the_note_no_longer_has_is_ignored(page: TestClient) -> None:
    note_id = create(page)
    check = {"id": note_id, "anchor": GIVEN | {"commit": "1234567"}, "state": "fresh", "detail": "same"}
    body = {"commit": "b" * 40, "committed_at": "2026-03-01T09:00:00Z", "checks": [check]}
    assert page.post(f"{API}/anchors", json=body).json() == {"stored": 0}
    assert "anchor_report" not in page.get(f"{API}/{note_id}").json()


@pytest.mark.req("MT-4")
def test_nobody_reports_on_another_users_private_note(service: KnowledgeService) -> None:
    anchor = valid_anchor(Anchor(**GIVEN))
    assert anchor
    with acting_as(AKI):
        note_id = service.save("mine", private=True, anchor=anchor).id
    reports, check = AnchorReports(service), Check(id=note_id, anchor=anchor, state="gone", detail="deleted")
    with acting_as(BEN):
        assert reports.report("b" * 40, now(), [check]) == 0
        assert reports.anchored("github.com/org/repo") == []
    with acting_as(AKI):
        assert service.anchor_report(service.get(note_id)) is None
        assert reports.report("b" * 40, now(), [check]) == 1
    with acting_as(BEN):
        assert reports.changed() == []


@pytest.mark.req("MT-4")
def test_a_report_that_makes_no_sense_is_refused(page: TestClient) -> None:
    note_id = create(page)
    assert report(page, note_id, changed=1.5).json()["code"] == "knowledge.anchor_share_invalid"
    assert report(page, note_id, path="../x").json()["code"] == "knowledge.anchor_path_invalid"
    assert report(page, note_id, state="new").status_code == 400
    many = {"commit": "abcdef0", "committed_at": "2026-03-01T09:00:00Z"}
    checks = [{"id": note_id, "anchor": STORED, "state": "fresh", "detail": "same"}] * 501
    answer = page.post(f"{API}/anchors", json=many | {"checks": checks})
    assert answer.json()["code"] == "knowledge.anchor_results_too_many"
    assert page.post(f"{API}/anchors", json=many | {"commit": "", "checks": []}).status_code == 400


@pytest.mark.req("MT-4")
def test_who_confirms_a_note_has_read_the_code_as_it_is_now(page: TestClient) -> None:
    note_id = create(page)
    report(page, note_id, path="src/main.py", lines="12-22", fingerprint="c" * 64)
    page.put(f"{API}/{note_id}/confirmation")
    note = page.get(f"{API}/{note_id}").json()
    assert note["anchor"] == {
        "repository": "github.com/org/repo",
        "path": "src/main.py",
        "lines": "12-22",
        "commit": "b" * 40,
        "fingerprint": "c" * 64,
    }
    assert note["anchor_report"]["state"] == "fresh"
    assert page.get(f"{API}/anchors/changed").json() == {"notes": []}
    report(page, note_id, state="unknown", detail="unsure", changed=None, path="other.py", lines="1-9")
    page.put(f"{API}/{note_id}/confirmation")
    unsure = page.get(f"{API}/{note_id}").json()
    assert (unsure["anchor"], unsure["anchor_report"]["state"]) == (note["anchor"], "unknown")
    report(page, note_id, state="gone", changed=None)
    page.put(f"{API}/{note_id}/confirmation")
    assert "anchor" not in page.get(f"{API}/{note_id}").json()


@pytest.mark.req("MT-4")
def test_the_review_lists_notes_whose_code_has_changed_until_somebody_decides(page: TestClient) -> None:
    note_id = create(page)
    report(page, note_id, path="src/main.py", lines="12-22", fingerprint="c" * 64)
    [finding] = [one for one in page.get(f"{API}/review").json()["findings"] if one["id"] == f"code:{note_id}"]
    assert finding["kind"] == "stale"
    assert finding["reason"] == {"code": "code_changed", "params": {"path": "src/app.py", "percent": 40}}
    kept = page.post(f"{API}/review/decisions", json={"finding": finding["id"], "action": "keep"})
    assert kept.status_code in (200, 201), kept.text
    assert page.get(f"{API}/review").json()["findings"] == []
    assert page.get(f"{API}/{note_id}").json()["anchor"]["path"] == "src/main.py"


@pytest.mark.req("MT-4")
def test_an_export_keeps_the_anchor(page: TestClient) -> None:
    note_id = create(page)
    before = page.get(f"{API}/{note_id}").json()
    archive = page.get(f"{API}/export").content
    page.delete(f"{API}/{note_id}")
    imported = page.post(f"{API}/import", files={"files": ("notes.zip", archive, "application/zip")})
    assert imported.json()["saved"] == 1
    assert page.get(f"{API}/{note_id}").json()["anchor"] == before["anchor"]


@pytest.mark.parametrize(
    ("source", "anchor"),
    [
        (
            "https://github.com/Org/Repo/blob/0123456789abcdef0123456789abcdef01234567/src/a%20b.py#L10-L20",
            ("github.com/org/repo", "src/a b.py", "10-20", "0123456789abcdef0123456789abcdef01234567"),
        ),
        (
            "https://git.example.com/group/sub/repo/-/blob/0123456/src/a.py?ref_type=heads#L7",
            ("git.example.com/group/sub/repo", "src/a.py", "7", "0123456"),
        ),
        ("https://github.com/org/repo/blob/main/src/a.py#L7", None),
        ("https://example.com/wiki", None),
        ("src/app.py:10", None),
        (None, None),
    ],
)
def test_a_permalink_is_an_anchor(source: str | None, anchor: tuple[str, str, str, str] | None) -> None:
    found = permalink_anchor(source)
    assert (found and (found.repository, found.path, found.lines, found.commit)) == anchor


def test_a_note_with_a_permalink_as_its_source_is_anchored(service: KnowledgeService) -> None:
    saved = service.save("x", source="https://github.com/org/repo/blob/0123456/src/a.py#L7")
    assert service.get(saved.id).anchor == Anchor(
        repository="github.com/org/repo", path="src/a.py", lines="7", commit="0123456"
    )


def test_sources_with_lines() -> None:
    assert parse_source("src/app.py:10-20@3f2a9c1") == ("src/app.py", "10-20", "3f2a9c1")
    assert parse_source("src/app.py:10") == ("src/app.py", "10", None)
    assert parse_source("https://example.com:8080") is None
    assert parse_source("see the wiki") is None


def test_an_empty_anchor_is_none() -> None:
    assert valid_anchor(Anchor(repository=" ", path="")) is None
    with pytest.raises(ValidationError):
        valid_anchor(Anchor(repository="github.com/org/repo", path=""))


def _read(page: TestClient, note_id: str) -> Any:
    return page.get(f"{API}/{note_id}").json()["anchor"]


def _given(anchor: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in anchor.items() if value is not None}
