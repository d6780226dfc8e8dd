"""Hooks over HTTP, with the bodies that Claude Code sends."""

import json
import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.hook_bodies import NAMES, hook_body

from chie.access.authentication import load_authenticator
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.app import create_app
from chie.knowledge.note import now
from chie.knowledge.recall.context import MAX_HINT_CHARACTERS, MAX_PASSAGE_CHARACTERS
from chie.knowledge.server import create_server
from chie.knowledge.settings import KnowledgeSettings
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.settings import load

ADDRESS = "http://127.0.0.1:8080"
HOOK = "/hooks/claude-code"
FIX = {
    "content": "npm ci が EBADENGINE で失敗する。CI の Node が 18 のままだった。原因は .nvmrc を見ていないこと。"
    "actions/setup-node に node-version-file: .nvmrc を渡すと直る。",
    "title": "npm ci は EBADENGINE で落ちる: CI が .nvmrc を読んでいない",
    "questions": ["CI の npm ci が engine の不一致で失敗するのはなぜ?", "Why does npm ci fail in CI with EBADENGINE?"],
}
PROMPT = "CI で npm ci が EBADENGINE になって失敗します。Node のバージョンの問題だと思うので直してください。"
ERROR = (
    "Exit code 1\nnpm ERR! code EBADENGINE\nnpm ERR! engine Unsupported engine\n"
    "npm ERR! engine Not compatible with your version of node/npm: @acme/{}@1.2.{}"
)


class Claude:
    """Sends hooks of one session, as Claude Code does."""

    def __init__(self, client: TestClient, session: str = "s-1", token: str | None = None) -> None:
        self.client, self.session = client, session
        self.headers = {"authorization": f"Bearer {token}"} if token else {}

    def hook(self, recording: str, **changes: Any) -> dict[str, Any]:
        body = hook_body(recording, session_id=self.session, **changes)
        response = self.client.post(HOOK, json=body, headers=self.headers)
        assert response.status_code == 200, response.text
        reply: dict[str, Any] = response.json()
        return reply

    def context(self, recording: str, **changes: Any) -> str:
        text: str = self.hook(recording, **changes).get("hookSpecificOutput", {}).get("additionalContext", "")
        return text

    def prompt(self, text: str) -> str:
        return self.context("user_prompt_submit", prompt=text)

    def fail(self, command: str = "npm ci", error: str = ERROR.format("web", 3)) -> str:
        return self.context("post_tool_use_failure_bash", tool_input={"command": command}, error=error)

    def succeed(self, command: str = "npm ci") -> None:
        assert self.hook("post_tool_use_bash", tool_input={"command": command}) == {}

    def save(self, **note: Any) -> str:
        saved = self.client.post("/api/knowledge", json={"content": "a finding", **note}, headers=self.headers).json()
        response = f'{{"id":"{saved["id"]}","updated_at":"2026-01-01T00:00:00Z"}}'
        assert self.hook("post_tool_use_save_knowledge", tool_response=response) == {}
        note_id: str = saved["id"]
        return note_id

    def stop(self) -> dict[str, Any]:
        return self.hook("stop")


@pytest.fixture
def page(real_store: SqliteStore) -> Iterator[TestClient]:
    with TestClient(create_app({"knowledge": create_server(store=real_store)}), base_url=ADDRESS) as client:
        yield client


@pytest.fixture
def claude(page: TestClient) -> Claude:
    return Claude(page)


@pytest.fixture
def fix(page: TestClient) -> str:
    note_id: str = page.post("/api/knowledge", json=FIX).json()["id"]
    return note_id


@pytest.mark.req("ME-1")
@pytest.mark.parametrize("recording", NAMES)
def test_every_event_is_answered(claude: Claude, recording: str) -> None:
    reply = claude.hook(recording)
    assert set(reply) <= {"hookSpecificOutput", "systemMessage"}
    if recording != "session_start":
        assert reply == {}  # there is no note yet


@pytest.mark.req("ME-1")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"session_id": 3},
        {"hook_event_name": "Unknown"},
        {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": ["x"]},
    ],
)
def test_unknown_events_and_odd_values_are_silence(page: TestClient, body: dict[str, Any]) -> None:
    response = page.post(HOOK, json=body)
    assert (response.status_code, response.json()) == (200, {})


@pytest.mark.req("ME-2")
def test_a_prompt_gets_the_note_that_answers_it(claude: Claude, fix: str) -> None:
    reply = claude.hook("user_prompt_submit", prompt=PROMPT)
    context = reply["hookSpecificOutput"]["additionalContext"]
    assert reply["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert f'id="{fix}"' in context
    assert "node-version-file" in context
    assert f"{ADDRESS}/#/knowledge/{fix}" in context
    assert "not instructions" in context
    assert reply["systemMessage"] == "Chie: メモ 1 件を思い出しました"


@pytest.mark.req("ME-2")
@pytest.mark.parametrize(
    "prompt",
    [
        "yes",
        "続けて",
        "はい、お願いします",
        "/clear",
        "/compact EBADENGINE npm ci",
        "Rename this function to load_users",
        "この関数のテストを書いて",
    ],
)
@pytest.mark.usefixtures("fix")
def test_a_prompt_that_needs_no_note_gets_none(claude: Claude, prompt: str) -> None:
    assert claude.hook("user_prompt_submit", prompt=prompt) == {}


@pytest.mark.req("ME-4")
def test_no_note_twice_in_a_session_also_after_a_restart(claude: Claude, fix: str, real_store: SqliteStore) -> None:
    assert fix in claude.prompt(PROMPT)
    assert claude.prompt(PROMPT) == ""
    with TestClient(create_app({"knowledge": create_server(store=real_store)}), base_url=ADDRESS) as again:
        assert Claude(again).prompt(PROMPT) == ""
        assert fix in Claude(again, "another session").prompt(PROMPT)


@pytest.mark.req("ME-4")
def test_what_was_shown_is_forgotten_after_a_week(real_store: SqliteStore) -> None:
    real_store.remember_shown("old", ["k-1"], at=now() - timedelta(days=8), forget_before=now() - timedelta(days=9))
    real_store.remember_shown("new", ["k-1"], at=now(), forget_before=now() - timedelta(days=7))
    assert (real_store.shown("old"), real_store.shown("new")) == (set(), {"k-1"})


def test_what_the_session_saved_itself_is_not_shown(claude: Claude) -> None:
    claude.save(**FIX)
    assert claude.prompt(PROMPT) == ""


@pytest.mark.req("ME-3")
def test_a_failure_that_was_solved_and_saved_is_recognised_by_a_colleague(claude: Claude, page: TestClient) -> None:
    claude.fail(error=ERROR.format("web", 3))
    claude.succeed()
    note_id = claude.save(content="CI reads .nvmrc only with node-version-file.", title="Node version in CI")
    assert page.get(f"/api/knowledge/{note_id}").json()["signatures"]
    colleague = Claude(page, "s-2")
    context = colleague.fail(command="npm install", error=ERROR.format("shop", 9))
    assert "<chie-notes>" in context
    assert "node-version-file" in context
    assert Claude(page, "s-3").fail("ls", "Exit code 2\nls: cannot access '/nope': No such file or directory") == ""


@pytest.mark.req("ME-3")
def test_signatures_can_be_given_and_removed(page: TestClient, claude: Claude) -> None:
    saved = page.post(
        "/api/knowledge", json={"content": "install libpq-dev", "errors": ["Error: pg_config executable not found."]}
    )
    note_id = saved.json()["id"]
    assert page.get(f"/api/knowledge/{note_id}").json()["signatures"] == ["pg_config executable not found"]
    assert note_id in claude.fail("pip install psycopg2", "Exit code 1\n  Error: pg_config executable not found.\n")
    page.patch(f"/api/knowledge/{note_id}", json={"errors": []})
    assert page.get(f"/api/knowledge/{note_id}").json()["signatures"] == []


def test_a_file_gets_the_notes_whose_source_it_is(claude: Claude, page: TestClient) -> None:
    note = {"content": "x must stay 1: the importer depends on it", "source": "project/app.py:3"}
    note_id = page.post("/api/knowledge", json=note).json()["id"]
    assert claude.context("pre_tool_use_write") == ""
    assert note_id in claude.context("pre_tool_use_edit")
    assert claude.context("pre_tool_use_read") == ""  # it has seen it


@pytest.mark.req("MT-4")
def test_a_file_gets_the_notes_that_are_anchored_to_it_and_they_say_that_it_changed(
    page: TestClient,
) -> None:
    anchor = {"repository": "git.example/team/project", "path": "app.py", "lines": "3"}
    note_id = page.post("/api/knowledge", json={"content": "x must stay 1", "anchor": anchor}).json()["id"]
    other = Claude(page, "other")
    other.hook("session_start", git_remote="https://git.example/team/another.git")
    assert other.context("pre_tool_use_edit") == ""
    claude = Claude(page, "same")
    claude.hook("session_start", git_remote="git@git.example:team/project.git")
    assert f'id="{note_id}"' in claude.context("pre_tool_use_edit")
    check = {"id": note_id, "anchor": anchor, "state": "changed", "detail": "edited", "changed": 0.4}
    results = {"commit": "abcdef0", "committed_at": "2026-03-01T00:00:00Z", "checks": [check]}
    assert page.post("/api/knowledge/anchors", json=results).json() == {"stored": 1}
    assert 'code="changed since (40 %)"' in Claude(page, "later").context("pre_tool_use_edit")
    results["checks"] = [check | {"state": "gone", "changed": None}]
    page.post("/api/knowledge/anchors", json=results)
    assert 'code="gone since"' in Claude(page, "last").context("pre_tool_use_edit")


@pytest.mark.req("MT-4")
def test_the_client_completes_the_anchor_of_a_saved_note(claude: Claude, page: TestClient) -> None:
    found = {"repository": "git@git.example:team/project.git", "path": "app.py", "lines": "3", "fingerprint": "f" * 64}
    found["commit"] = "abcdef0"

    def anchor_of(**fields: Any) -> dict[str, Any] | None:
        saved = page.post("/api/knowledge", json={"content": "a finding", **fields}).json()
        response = f'{{"id":"{saved["id"]}","updated_at":"2026-01-01T00:00:00Z"}}'
        assert claude.hook("post_tool_use_save_knowledge", tool_response=response, code_anchor=found) == {}
        anchor: dict[str, Any] | None = page.get(f"/api/knowledge/{saved['id']}").json().get("anchor")
        return anchor

    completed = found | {"repository": "git.example/team/project"}
    assert anchor_of() == completed
    given = {"repository": "git.example/team/project", "path": "app.py", "lines": "3"}
    assert anchor_of(anchor=given) == completed
    assert anchor_of(anchor=given | {"commit": "1234567"}) == completed | {"commit": "1234567"}
    assert anchor_of(anchor=given | {"lines": "9"}) == given | {"lines": "9", "commit": None, "fingerprint": None}
    found["path"] = "../app.py"
    assert anchor_of() is None


@pytest.mark.req("ME-1")
def test_a_session_start_says_what_is_known_of_the_repository(claude: Claude, page: TestClient) -> None:
    page.post("/api/knowledge", json={"content": "a", "source": "https://git.example/team/project/blob/main/a.py"})
    page.post("/api/knowledge", json={"content": "b", "source": "https://git.example/team/other/a.py"})
    assert "2 notes, 1 of them on this repository" in claude.context("session_start")


@pytest.mark.req("ME-2")
def test_the_limits_of_length(page: TestClient) -> None:
    for number in range(5):
        content = f"{FIX['content']} その{number}。" + "背景の説明が続く。" * 300
        page.post("/api/knowledge", json={**FIX, "content": content, "errors": ["EBADENGINE is not supported here"]})
    by_signature = Claude(page, "a").fail(error="Exit code 1\nEBADENGINE is not supported here")
    notes = by_signature.split("<note ")[1:]
    assert len(notes) == 2
    assert sum(len(note.partition(">\n")[2]) for note in notes) <= MAX_PASSAGE_CHARACTERS + 2 * len(
        "</note>\n</chie-notes>"
    )
    hints = Claude(page, "b").fail(error="Exit code 1\nnpm ci stopped, engine of node does not match in CI")
    assert 0 < len(hints) <= MAX_HINT_CHARACTERS
    assert hints.count("\n- ") <= 3


@pytest.mark.req("ME-8")
def test_stop_asks_once_and_only_after_a_signal(claude: Claude, page: TestClient) -> None:
    assert claude.stop() == {}
    claude.fail("make build", "Exit code 2\nerror: linker `cc` not found")
    assert claude.stop() == {}  # not solved
    claude.succeed("make build")
    assert claude.hook("stop_hook_active") == {}
    asked = claude.stop()
    assert "proposal: true" in asked["hookSpecificOutput"]["additionalContext"]
    assert (asked["hookSpecificOutput"]["hookEventName"], "asked the assistant" in asked["systemMessage"]) == (
        "Stop",
        True,
    )
    assert "decision" not in asked  # which Claude Code shows as an error
    assert claude.stop() == {}
    restarted = Claude(page)
    assert restarted.stop() == {}


@pytest.mark.req("ME-8")
@pytest.mark.parametrize(
    "correction", ["いや、そうではなく設定ファイルの方です", "No, that's not what I asked, it still fails"]
)
def test_a_correction_is_a_signal(claude: Claude, correction: str) -> None:
    claude.prompt(correction)
    assert claude.stop()["hookSpecificOutput"]["additionalContext"]


@pytest.mark.req("ME-8")
def test_stop_does_not_ask_if_the_finding_was_saved(claude: Claude) -> None:
    claude.fail()
    claude.succeed()
    claude.save()
    assert claude.stop() == {}


def test_a_note_saved_after_the_question_comes_from_the_hook(claude: Claude, real_store: SqliteStore) -> None:
    claude.fail()
    claude.succeed()
    claude.stop()
    saved = create_note(real_store)
    claude.hook("post_tool_use_save_knowledge", tool_response={"id": saved, "updated_at": "x"})
    note = real_store.get(saved)
    assert note is not None
    assert (note.origin, bool(note.signatures)) == ("hook", True)


def create_note(store: SqliteStore) -> str:
    from chie.knowledge.service import KnowledgeService

    return KnowledgeService(store).save("CI reads .nvmrc", proposal=True).id


@pytest.mark.req("ME-5")
def test_nothing_of_a_prompt_or_an_output_is_stored_or_logged(
    claude: Claude, fix: str, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert fix in claude.prompt(f"{PROMPT} zanzibarprompt")
        claude.fail(
            error=f"{ERROR.format('zanzibarpkg', 1)}\nzanzibaroutput: deploy to /zanzibarpath failed completely"
        )
        claude.succeed()
        claude.stop()
        claude.hook("session_end")
    assert "zanzibar" not in caplog.text
    files = [file for file in home.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if b"zanzibar" in file.read_bytes()]


@pytest.mark.req("ME-5")
def test_a_session_is_forgotten_when_it_ends(claude: Claude) -> None:
    claude.fail()
    claude.succeed()
    claude.hook("session_end")
    assert claude.stop() == {}


@pytest.fixture
def team(real_store: SqliteStore, home: Path) -> Iterator[tuple[TestClient, dict[str, str]]]:  # noqa: ARG001
    users = UserFile(load(AccessSettings).users_path)
    tokens = {name: users.add(name) for name in ("aki", "ben")}
    server = create_server(KnowledgeSettings(), store=real_store)
    with TestClient(create_app({"knowledge": server}, authenticator=load_authenticator()), base_url=ADDRESS) as client:
        yield client, tokens


@pytest.mark.req("ME-1")
def test_hooks_need_a_token_if_there_are_users(team: tuple[TestClient, dict[str, str]]) -> None:
    client, tokens = team
    assert client.post(HOOK, json=hook_body("user_prompt_submit")).status_code == 401
    assert client.get("/hooks/status").status_code == 401
    aki = {"authorization": f"Bearer {tokens['aki']}"}
    assert client.get("/hooks/status", headers=aki).json() == {"last_call": None}
    client.post(HOOK, json=hook_body("user_prompt_submit"), headers=aki)
    assert client.get("/hooks/status", headers=aki).json()["last_call"]
    assert client.get("/hooks/status", headers={"authorization": f"Bearer {tokens['ben']}"}).json() == {
        "last_call": None
    }


@pytest.mark.req("ME-10")
def test_others_get_a_note_only_when_somebody_has_confirmed_it(
    team: tuple[TestClient, dict[str, str]], real_store: SqliteStore
) -> None:
    client, tokens = team
    aki, ben = (Claude(client, name, tokens[name]) for name in ("aki", "ben"))
    saved = client.post("/api/knowledge", json=FIX, headers=aki.headers).json()["id"]
    client.delete(f"/api/knowledge/{saved}/confirmation", headers=aki.headers)
    assert ben.prompt(PROMPT) == ""
    assert saved in aki.prompt(PROMPT)
    confirmed = client.put(f"/api/knowledge/{saved}/confirmation", headers=ben.headers).json()
    assert (confirmed["confirmed_by"], confirmed["user_id"]) == ("ben", "aki")
    assert saved in ben.prompt(PROMPT)
    client.patch(f"/api/knowledge/{saved}", json={"private": True}, headers=aki.headers)
    assert Claude(client, "later", tokens["ben"]).prompt(PROMPT) == ""
    assert real_store.get(saved) is not None


REMOTE = "git@GitHub.com:acme/Shop.git"


class TestBoundRepository:
    """A session in a repository that is bound to a space recalls and saves there."""

    @pytest.fixture
    def ops(self, page: TestClient) -> TestClient:
        for name in ("ops", "other"):
            assert page.put(f"/api/knowledge/spaces/{name}", json={}).status_code == 200
        bound = page.put(
            "/api/knowledge/repositories", json={"repository": "https://me@github.com/acme/shop", "space": "ops"}
        )
        assert bound.json() == {"repositories": [{"repository": "github.com/acme/shop", "space": "ops"}]}
        return page

    @pytest.mark.req("MT-6")
    @pytest.mark.parametrize("space", ["ops", "team", "other"])
    def test_recalls_from_its_space_and_the_team(self, ops: TestClient, space: str) -> None:
        saved = ops.post("/api/knowledge", json={**FIX, "space": space})
        assert saved.status_code == 201, saved.text
        recalled = Claude(ops).context("user_prompt_submit", prompt=PROMPT, git_remote=REMOTE)
        assert (saved.json()["id"] in recalled) is (space != "other")
        recalled = Claude(ops, "s-2").context("user_prompt_submit", prompt=PROMPT, git_remote="git@x.test:a/b.git")
        assert saved.json()["id"] in recalled

    @pytest.mark.req("MT-2")
    def test_a_note_is_superseded_by_one_in_another_space(self, ops: TestClient) -> None:
        old = ops.post("/api/knowledge", json={**FIX, "space": "ops", "errors": [ERROR.format("web", 3)]}).json()["id"]
        assert old in Claude(ops).context("user_prompt_submit", prompt=PROMPT, git_remote=REMOTE)
        assert old in Claude(ops, "s-2").context(
            "post_tool_use_failure_bash",
            tool_input={"command": "npm ci"},
            error=ERROR.format("web", 3),
            git_remote=REMOTE,
        )
        newer = {"content": "Use pnpm instead", "space": "other", "supersedes": [old]}
        assert ops.post("/api/knowledge", json=newer).status_code == 201
        assert old not in str(Claude(ops, "s-3").hook("user_prompt_submit", prompt=PROMPT, git_remote=REMOTE))
        failed = {"tool_input": {"command": "npm ci"}, "error": ERROR.format("web", 3), "git_remote": REMOTE}
        assert old not in str(Claude(ops, "s-4").hook("post_tool_use_failure_bash", **failed))

    @pytest.mark.req("MT-6")
    def test_session_start_names_the_space(self, ops: TestClient) -> None:
        assert "`ops`" in Claude(ops).context("session_start", git_remote=REMOTE)
        assert "`ops`" not in Claude(ops, "s-2").context("session_start")

    @pytest.mark.req("MT-6")
    @pytest.mark.parametrize(("asked", "stored"), [({}, "ops"), ({"space": "other"}, "other")])
    def test_saves_in_its_space_unless_another_is_named(
        self, ops: TestClient, asked: dict[str, str], stored: str
    ) -> None:
        saved = ops.post("/api/knowledge", json={**FIX, **asked}).json()
        Claude(ops).hook(
            "post_tool_use_save_knowledge",
            tool_input={"content": FIX["content"], **asked},
            tool_response=saved,
            git_remote=REMOTE,
        )
        assert ops.get(f"/api/knowledge/{saved['id']}").json()["space"] == stored


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000, [[[]]] * 9, json.loads("[" * 90 + "]" * 90)])
def test_a_response_of_any_depth_is_read(claude: Claude, nested: Any) -> None:
    assert claude.hook("post_tool_use_save_knowledge", tool_response=nested) == {}


def test_a_body_that_is_too_deep_is_refused(claude: Claude) -> None:
    body = '{"hook_event_name": "PostToolUse", "session_id": "s", "tool_response": NESTED}'
    content = body.replace("NESTED", "[" * 900 + "]" * 900)
    response = claude.client.post(HOOK, content=content, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "http.body_too_deep")


@pytest.mark.parametrize("line", ["\x1b]", "\x1b]x\n", "a-", "/", "'x ", "1.", "=>", "_a.b", "\x1b]\n"])
def test_an_output_of_any_form_is_read_in_a_moment(claude: Claude, line: str) -> None:
    """A megabyte took half a minute, in which the process answered nobody."""
    output = line * (1_000_000 // len(line))
    claude.fail(error="Exit code 1\nthe first failure loads the model")
    before = time.process_time()
    claude.fail(error=output)
    refused = claude.client.post("/api/knowledge", json={"content": "x", "errors": [output]})
    assert time.process_time() - before < 3
    assert refused.status_code in (201, 400)
