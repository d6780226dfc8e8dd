"""The bench for search quality: what it reads, and what it counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.baselines import by_meaning, by_words
from bench.filler import fillers
from bench.labelled import WORDS, LabelledNote, own, sample, squad
from bench.retrieval import Notes, third_party
from bench.vector_cache import CachedEmbedder
from tests.fakes.embedders import FailableEmbedder, HashingEmbedder

PARAGRAPHS = {
    "富士山は静岡県と山梨県にまたがる活火山で、標高は3,776メートルである。": [
        "富士山の標高は何メートルか",
        "富士山はどの県にまたがるか",
    ],
    "琵琶湖は滋賀県にある日本最大の湖で、面積は約670平方キロメートルである。": ["日本最大の湖はどこにあるか"],
    "The Shinkansen opened in 1964 between Tokyo and Osaka.": ["When did the Shinkansen open?"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set in the format of SQuAD 2.0, with a question that its paragraph does not answer and a paragraph twice."""
    paragraphs: list[dict[str, Any]] = [
        {"context": text, "qas": [{"id": question, "question": question, "answers": []} for question in questions]}
        for text, questions in PARAGRAPHS.items()
    ]
    paragraphs[1]["qas"].append({"id": "no", "question": "琵琶湖の水温は", "answers": [], "is_impossible": True})
    again = {"context": paragraphs[0]["context"], "qas": [{"id": "x", "question": "活火山はどれか", "answers": []}]}
    path = tmp_path / "squad" / "valid-v1.1.json"
    path.parent.mkdir()
    articles = [{"title": "地理", "paragraphs": paragraphs}, {"title": "山", "paragraphs": [again]}]
    path.write_text(json.dumps({"version": "2.0", "data": articles}, ensure_ascii=False), "utf-8")
    return path.parent


def test_paragraphs_of_squad_are_notes_and_their_questions_must_find_them(folder: Path) -> None:
    (labelled,) = squad(folder)
    assert labelled.name == "valid-v1.1"
    assert [note.content for note in labelled.notes] == list(PARAGRAPHS)
    contents = {note.id: note.content for note in labelled.notes}
    asked = [(question.text, contents[question.note]) for question in labelled.asked]
    expected = [(question, text) for text, questions in PARAGRAPHS.items() for question in questions]
    assert asked == [*expected, ("活火山はどれか", next(iter(PARAGRAPHS)))]


def test_squad_is_searched_through_the_service_and_by_each_part_alone(folder: Path, tmp_path: Path) -> None:
    (labelled,) = squad(folder)
    figures = list(third_party(labelled, HashingEmbedder(), tmp_path))
    assert {figure.who for figure in figures} == {"meaning alone", "words alone", "Chie"}
    values = {(figure.who, figure.what): figure.value for figure in figures}
    assert values["Chie", "valid-v1.1, 5 questions, found first"] == 1.0
    assert values["words alone", "valid-v1.1, 5 questions, among five"] == 1.0


@pytest.mark.req("SE-2")
@pytest.mark.parametrize(("name", "notes", "questions"), [("dev", 100, 300), ("test", 300, 600)])
def test_labelled_sets_are_large_enough(name: str, notes: int, questions: int) -> None:
    labelled = own(name)
    assert len(labelled.notes) >= notes
    assert len(labelled.asked) >= questions
    assert {question.kind for question in labelled.asked} == {"ja-ja", "en-en", "ja-en", "en-ja", "words"}
    assert all(len(note.questions) >= 4 for note in labelled.notes)
    ids = {note.id for note in (*labelled.notes, *labelled.long_notes)}
    assert len(ids) == len(labelled.notes) + len(labelled.long_notes)
    assert {question.note for question in (*labelled.asked, *labelled.long_asked)} <= ids


def test_no_text_is_in_both_sets() -> None:
    dev, test = own("dev"), own("test")
    assert not {note.content for note in dev.notes} & {note.content for note in test.notes}
    dev_asked, test_asked = ({one.text for one in of.asked if one.kind != WORDS} for of in (dev, test))
    assert not dev_asked & test_asked  # a few identifiers are asked for in both
    assert not set(dev.unanswerable) & set(test.unanswerable)


@pytest.mark.parametrize("name", ["dev", "test"])
def test_answers_are_parts_of_their_long_notes(name: str) -> None:
    labelled = own(name)
    contents = {note.id: note.content for note in labelled.long_notes}
    assert [question.text for question in labelled.long_asked if question.answer not in contents[question.note]] == []
    assert all(question.answer for question in labelled.long_asked)


def test_sample_has_the_questions_of_its_notes() -> None:
    few = sample(own("test"), 50)
    ids = {note.id for note in few.notes}
    assert len(ids) == 50
    assert {question.note for question in few.asked} == ids
    assert few.unanswerable == own("test").unanswerable


def test_question_leads_to_its_note(tmp_path: Path) -> None:
    notes = [
        LabelledNote("a", "接続数の上限", questions=["Why are connections refused?"]),
        LabelledNote("b", "証明書の期限"),
    ]
    stored = Notes(tmp_path / "notes", HashingEmbedder(), notes)
    assert stored.ids("Why are connections refused?")[0] == "a"
    assert stored.ids("証明書の期限")[0] == "b"
    stored.close()


def test_baselines_find_by_their_own_part_alone() -> None:
    notes = [LabelledNote("a", "nginx answers 413"), LabelledNote("b", "障害の記録")]
    assert by_words(notes)("413 とは") == ["a"]
    assert by_meaning(notes, HashingEmbedder())("障害の記録")[0] == "b"


def test_vectors_are_kept_by_model_and_text(tmp_path: Path) -> None:
    model = FailableEmbedder()
    vectors = CachedEmbedder(model, tmp_path).embed(["one", "二"])
    model.failing = True
    assert np.array_equal(CachedEmbedder(model, tmp_path).embed(["二", "one"]), vectors[::-1])
    other = CachedEmbedder(HashingEmbedder("2"), tmp_path).embed(["one"])
    assert not np.array_equal(other[0], vectors[0])


def test_fillers_come_from_a_file_if_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "texts.json"
    path.write_text('["one", "two", "three"]', "utf-8")
    assert fillers(2, path) == ["one", "two"]
    with pytest.raises(SystemExit, match="--filler"):
        fillers(4, path)
