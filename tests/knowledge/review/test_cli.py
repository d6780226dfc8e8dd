"""`chie notes review`, as a person types it and as a script reads it."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from click.testing import CliRunner, Result
from tests.knowledge.review.test_review import PAIRS, SAME

from chie.cli import main
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.settings import load


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def service() -> Iterator[KnowledgeService]:
    with closing(create_store(load(KnowledgeSettings))) as store:
        yield KnowledgeService(store)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal on which somebody presses these keys."""
    keys: list[str] = []
    monkeypatch.setattr("chie.knowledge.review.cli.is_terminal", lambda: True)
    monkeypatch.setattr("click.getchar", lambda: keys.pop(0))
    return keys


@pytest.mark.req("MT-3")
def test_findings_as_text_and_json(service: KnowledgeService) -> None:
    assert chie("notes", "review").output == "Nothing to review.\n"
    older, newer = (service.save(content).id for content in PAIRS["number"])
    listed = chie("notes", "review").output
    assert "contradiction: 30秒 here, 60秒 there" in listed
    assert older in listed
    found = json.loads(chie("notes", "review", "--json").output)
    assert [note["id"] for note in found["findings"][0]["notes"]] == [older, newer]
    assert found["counts"]["contradiction"] == 1
    assert chie("notes", "review", "--kind", "stale").output == "Nothing to review.\n"


@pytest.mark.req("MT-3")
def test_one_key_decides_and_undo_takes_it_back(service: KnowledgeService, terminal: list[str]) -> None:
    for content in (*SAME, *PAIRS["number"]):
        service.save(content)
    terminal += ["x", "n", "u", "s", "a"]
    output = chie("notes", "review").output
    assert output.count("[1/2] contradiction") == 2
    assert output.endswith("Done.\n")
    assert service.count() == 3
    found = json.loads(chie("notes", "review", "--json").output)
    assert [finding["kind"] for finding in found["findings"]] == ["contradiction"]


@pytest.mark.req("MT-3")
def test_merging_opens_the_editor(
    service: KnowledgeService, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, newer = (service.save(content).id for content in SAME)
    edits = [None, "merged text\n"]
    monkeypatch.setattr("click.edit", lambda *_, **__: edits.pop(0))
    terminal += ["m", "q"]
    chie("notes", "review")
    assert service.count() == 2
    terminal += ["m"]
    assert chie("notes", "review").output.endswith("Done.\n")
    assert (service.count(), service.get(newer).content) == (1, "merged text")
