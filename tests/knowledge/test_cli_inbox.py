"""`chie inbox` and `chie notes confirm`, as a person types them."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chie.cli import main
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.settings import load

KNOWN, PROPOSED = "raise client_max_body_size", "raise client_max_body_size to 50m"


def chie(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def note(note_id: str) -> dict[str, object]:
    read: dict[str, object] = json.loads(chie("notes", "show", note_id, "--json").output)
    return read


@pytest.fixture
def ids() -> Iterator[tuple[str, str]]:
    """A proposal, and a note that is similar."""
    with closing(create_store(load(KnowledgeSettings))) as store:
        service = KnowledgeService(store)
        known = service.save(KNOWN, title="nginx limit").id
        yield service.save(PROPOSED, title="nginx limit", proposal=True, questions=["Why 413?"]).id, known


@pytest.mark.req("ME-7")
def test_proposals_are_listed_shown_and_accepted(ids: tuple[str, str]) -> None:
    proposal, known = ids
    listed = chie("inbox").output
    assert proposal in listed
    assert f"similar to {known}" in listed
    assert "Why 413?" in chie("inbox", "show", proposal).output
    assert f"{proposal}  {datetime.now(UTC):%Y-%m-%d}  nginx limit  (waiting)\n" in chie("notes", "list").output
    assert f"{proposal}  nginx limit  (waiting)\n" in chie("notes", "search", PROPOSED).output
    assert json.loads(chie("inbox", "--json").output)["proposals"][0]["note"]["id"] == proposal
    assert chie("inbox", "accept", proposal).output == f"Accepted {proposal}  nginx limit\n"
    assert note(proposal)["confirmed_by"]
    assert chie("inbox").output == "No proposals.\n"
    assert "(waiting)" not in chie("notes", "list").output + chie("notes", "search", PROPOSED).output


@pytest.mark.req("ME-7")
def test_a_proposal_is_rejected_once(ids: tuple[str, str]) -> None:
    proposal, _ = ids
    assert json.loads(chie("inbox", "reject", proposal, "--json").output)["id"] == proposal
    again = chie("inbox", "reject", proposal)
    assert (again.exit_code, "No proposal has this id" in again.output) == (1, True)
    assert chie("inbox", "undo", proposal).output == f"Waits again: {proposal}  nginx limit\n"
    assert proposal in chie("inbox").output
    assert "No decision of yours" in chie("inbox", "undo", proposal).output


@pytest.mark.req("ME-7")
def test_a_proposal_is_merged_from_standard_input(ids: tuple[str, str]) -> None:
    proposal, known = ids
    assert "No note has this id" in chie("inbox", "merge", proposal, "k-none", "--content", "x").output
    assert chie("inbox", "merge", proposal, known, "--content", "-", stdin="両方").output.startswith(
        f"Merged into {known}"
    )
    assert (note(known)["content"], note(known)["questions"]) == ("両方", ["Why 413?"])
    assert chie("inbox").output == "No proposals.\n"


@pytest.mark.req("ME-7")
def test_a_proposal_is_merged_in_the_editor(
    ids: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, known = ids
    monkeypatch.setenv("VISUAL", "true")
    cancelled = chie("inbox", "merge", proposal, known)
    assert (cancelled.exit_code, "Nothing was merged" in cancelled.output) == (1, True)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'and reload' >> \"$1\"\ntouch -d '2100-01-01' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    assert chie("inbox", "merge", proposal, known).exit_code == 0
    assert note(known)["content"] == f"{KNOWN}\n\n{PROPOSED}\nand reload"


@pytest.mark.req("ME-7")
def test_a_merge_is_refused_if_the_note_changes_while_the_editor_is_open(
    ids: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, known = ids
    chie("spaces", "create", "ops")
    editor = tmp_path / "editor"
    move = f"{Path(sys.executable).parent / 'chie'} notes move {known} ops"
    editor.write_text(f'#!/bin/sh\n{move} || exit 1\necho merged > "$1"\ntouch -d \'2100-01-01\' "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    refused = chie("inbox", "merge", proposal, known)
    assert (refused.exit_code, "has changed since it was read" in refused.output) == (1, True), refused.output
    assert (note(known)["content"], note(known)["space"]) == (KNOWN, "ops")
    assert proposal in chie("inbox").output


@pytest.mark.req("ME-7")
def test_commands_take_the_version_that_was_read(ids: tuple[str, str]) -> None:
    proposal, known = ids
    earlier = "2020-01-01T00:00:00Z"
    for command in (
        ("inbox", "accept", proposal),
        ("inbox", "reject", proposal),
        ("inbox", "merge", proposal, known, "--content", "x"),
        ("notes", "delete", known),
        ("notes", "confirm", known),
    ):
        refused = chie(*command, "--updated-at", earlier)
        assert (refused.exit_code, "has changed since it was read" in refused.output) == (1, True), command
        assert "updated_at" in chie(*command, "--updated-at", "yesterday").output
    assert chie("notes", "delete", known, "--updated-at", str(note(known)["updated_at"])).exit_code == 0
    waiting = json.loads(chie("inbox", "show", proposal, "--json").output)
    assert chie("inbox", "reject", proposal, "--updated-at", waiting["updated_at"]).exit_code == 0


@pytest.mark.req("ME-10")
def test_a_note_is_confirmed_and_that_is_withdrawn(ids: tuple[str, str]) -> None:
    _, known = ids
    assert note(known)["confirmed_by"] is None
    assert chie("notes", "confirm", known).output == f"Confirmed: {known}  nginx limit\n"
    assert note(known)["confirmed_by"]
    chie("notes", "confirm", known, "--withdraw")
    assert note(known)["confirmed_by"] is None
    assert "No note has this id" in chie("notes", "confirm", "k-none").output
