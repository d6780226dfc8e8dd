"""`chie eval` on files of cases and on recorded searches, as a person and a CI job run it."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.fakes.embeddings_server import EmbeddingsServer

from chie.access.identity import User, acting_as
from chie.cli import main
from chie.knowledge.note import now
from chie.knowledge.records import RecordedSearch
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.messages.catalogue import Message
from chie.settings import load

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.req("MT-8")]

NOTES = {
    "nginx": ("nginx answers 413: raise client_max_body_size", ["写真をアップロードできないのはなぜ?"]),
    "dns": ("社内DNSが引けないときはVPNクライアントを再起動する", ["Why does the intranet not resolve?"]),
    "redis": ("redis evicts sessions when memory is short", []),
}


@pytest.fixture
def ids() -> dict[str, str]:
    with closing(create_store(load(KnowledgeSettings))) as store:
        service = KnowledgeService(store)
        return {name: service.save(text, questions=asked).id for name, (text, asked) in NOTES.items()}


@pytest.fixture
def file(ids: dict[str, str], tmp_path: Path) -> Path:
    cases = [
        ("client_max_body_size", ids["nginx"]),
        ("社内DNS VPN 再起動", ids["dns"]),
        ("redis sessions memory", ids["redis"]),
        ("zebra crossing colours", None),
        ("gone", "k-gone"),
    ]
    path = tmp_path / "cases.jsonl"
    lines = [json.dumps({"query": query, "note": note}, ensure_ascii=False) for query, note in cases]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["eval", *map(str, arguments)])


def scores(*arguments: object) -> list[dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["scores"]
    return found


def test_models_and_settings_are_compared_side_by_side(file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "scores.svg"
    models = ["--model", "current", "--model", "words", "--model", "builtin,no-questions"]
    result = run("--file", file, *models, "--plot", picture, "--min-recall5", ".9")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["model", "recall@1", "recall@5", "MRR", "no", "answer"]
    assert [line.split()[0] for line in lines[1:4]] == ["current", "words", "builtin,no-questions"]
    assert lines[1].split()[1:4] == ["1.000", "1.000", "1.000"]
    assert lines[4:] == ["3 questions with a note, 1 without.", "1 left out: you have no note with that id."]
    drawn = picture.read_text("utf-8")
    assert drawn.startswith("<svg")
    assert all(name in drawn for name in ("current", "words", "builtin,no-questions", "The right note first"))


def test_questions_of_notes_are_a_setting(ids: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [("写真をアップロードできないのはなぜ", ids["nginx"]), ("why does the intranet not resolve", ids["dns"])]
    file.write_text("\n".join(json.dumps({"query": query, "note": note}) for query, note in rows), encoding="utf-8")
    with_questions, without = scores("--file", file, "--model", "words", "--model", "words,no-questions")
    assert with_questions["recall1"] == 1.0
    assert without["recall1"] < 1.0


def test_another_model_is_evaluated_on_a_copy(file: Path) -> None:
    with EmbeddingsServer() as server:
        (score,) = scores("--file", file, "--model", f"any@{server.url}")
    assert (score["answerable"], score["unanswerable"]) == (3, 1)
    assert score["recall5"] == 1.0
    failed = run("--file", file, "--model", "any@http://127.0.0.1:9/v1")
    assert (failed.exit_code, "cannot be evaluated" in failed.output) == (1, True)


def test_ci_fails_below_the_aim(ids: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps({"query": "client_max_body_size", "note": ids["redis"]}), encoding="utf-8")
    result = run("--file", file, "--model", "words", "--min-recall5", ".9")
    assert result.exit_code == 1
    assert "recall@5 of `words` is 0.000, less than 0.9" in result.output


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"query": "x"}', '{"query": "", "note": null}', '{"query": 1, "note": "k"}']
)
def test_a_line_that_is_no_case_is_named_in_both_languages(tmp_path: Path, line: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f'{{"query": "x", "note": null}}\n{line}\n', encoding="utf-8")
    result = run("--file", file)
    message = Message("knowledge.eval_line_invalid", file=str(file), line=2)
    assert (result.exit_code, str(message) in result.output) == (1, True)
    assert "2 行目" in message.text("ja")


@pytest.mark.parametrize("model", ["gpt", "words,fast", "current,no-questions"])
def test_unknown_models_are_refused(file: Path, model: str) -> None:
    result = run("--file", file, "--model", model)
    assert (result.exit_code, "Use `" in result.output) == (1, True)


@pytest.fixture
def recorded(ids: dict[str, str]) -> None:
    with closing(create_store(load(KnowledgeSettings))) as store:
        for user in ("anonymous", "ben"):
            store.records.agree(user, recording=True)
            store.records.record_search(user, RecordedSearch(query=f"redis {user}", note=ids["redis"], at=now()))
        with acting_as(User("ben")):
            hidden = KnowledgeService(store).save("ben's redis secret", private=True).id
        store.records.record_search("anonymous", RecordedSearch(query="redis", note=hidden, at=now()))


@pytest.mark.usefixtures("recorded")
def test_recorded_searches_are_replayed_for_their_user_alone(file: Path) -> None:
    result = run("--json", "--model", "words")
    found = json.loads(result.stdout)
    assert (found["scores"][0]["answerable"], found["scores"][0]["recall1"], found["skipped"]) == (1, 1.0, 1)
    assert scores("--file", file, "--recorded", "--model", "words")[0]["answerable"] == 4


def test_recording_is_agreed_to_and_withdrawn() -> None:
    nothing = run()
    assert (nothing.exit_code, "chie eval record on" in nothing.output) == (1, True)
    assert run("record").output == f"{Message('knowledge.eval_not_recording', user='anonymous')}\n"
    assert run("record", "on").output == f"{Message('knowledge.eval_recording', user='anonymous', count=0)}\n"
    assert "are recorded" in run("record", "status").output
    assert "are not recorded" in run("record", "off").output
