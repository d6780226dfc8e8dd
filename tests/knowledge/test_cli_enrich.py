"""`chie notes enrich` with a model server on loopback."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result
from tests.fakes.model_server import Refuse, say
from tests.fakes.openai_server import OpenAIServer

from chie.cli import main


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def chie(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def questions() -> list[list[str]]:
    listed = json.loads(chie("notes", "list", "--json").output)["notes"]
    return [json.loads(chie("notes", "show", note["id"], "--json").output)["questions"] for note in listed]


@pytest.mark.req("ME-9")
def test_notes_get_questions_and_an_interrupted_run_continues(model: OpenAIServer) -> None:
    for text in ("one", "two", "three"):
        chie("notes", "save", text)
    asked = chie("notes", "enrich", stdin="n\n")
    assert "3 notes without questions, about 900 tokens." in asked.output
    assert (asked.exit_code, model.seen) == (1, [])
    model.script.extend([say("What is three?"), Refuse(400)])
    assert chie("notes", "enrich", "--yes").exit_code == 1
    assert questions() == [["What is three?"], [], []]
    model.script.extend([say("二とは？"), say("I cannot.")])
    assert "1 notes have questions now." in chie("notes", "enrich", "--yes").output
    model.script.append(say("What is one?"))
    assert chie("notes", "enrich", "--yes", "--limit", "1").exit_code == 0
    assert questions() == [["What is three?"], ["二とは？"], ["What is one?"]]
    assert chie("notes", "enrich").output == "All your notes have questions.\n"


@pytest.mark.req("ME-9")
def test_without_a_model_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    chie("notes", "save", "one")
    result = chie("notes", "enrich", "--yes")
    assert (result.exit_code, "No model is connected" in result.output) == (1, True)
