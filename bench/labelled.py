"""Labelled notes and questions: our own sets in `bench/sets`, and third-party ones in the format of SQuAD."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SETS = Path(__file__).with_name("sets")
WORDS = "words"  # the kind of a question in the note's own words


@dataclass(frozen=True)
class Question:
    """`kind` is the direction, such as `ja-en`, or WORDS. `answer` is the part of a long note that answers."""

    text: str
    kind: str
    note: str
    answer: str = ""


@dataclass(frozen=True)
class LabelledNote:
    id: str
    content: str
    title: str | None = None
    tags: Sequence[str] = ()
    questions: Sequence[str] = ()  # as an assistant writes them when it saves the note


@dataclass(frozen=True)
class LabelledSet:
    name: str
    notes: Sequence[LabelledNote]
    asked: Sequence[Question]
    long_notes: Sequence[LabelledNote] = ()
    long_asked: Sequence[Question] = ()
    unanswerable: Sequence[str] = field(default=())


@cache
def own(name: str) -> LabelledSet:
    """`dev`, on which constants are chosen, or `test`, which is only measured."""
    notes, long_notes = _rows(name, "notes"), _rows(name, "long")
    return LabelledSet(
        name,
        [_note(row) for row in notes],
        [question for row in notes for question in _asked(row)],
        [_note(row) for row in long_notes],
        [question for row in long_notes for question in _asked(row)],
        [row["text"] for row in _rows(name, "unanswerable")],
    )


def sample(labelled: LabelledSet, count: int) -> LabelledSet:
    """That many of the notes, evenly, with the questions that they answer and all that have no answer."""
    notes = [labelled.notes[at * len(labelled.notes) // count] for at in range(count)]
    ids = {note.id for note in notes}
    asked = [question for question in labelled.asked if question.note in ids]
    return LabelledSet(labelled.name, notes, asked, unanswerable=labelled.unanswerable)


def squad(folder: Path) -> Iterator[LabelledSet]:
    """JSQuAD, JaQuAD, XQuAD and others in the format of SQuAD 1.1 or 2.0, one set per JSON file. Every paragraph is a
    note; questions that the paragraph does not answer (SQuAD 2.0) are left out."""
    for path in sorted(folder.glob("**/*.json")):
        articles = json.loads(path.read_text("utf-8"))["data"]
        paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
        contexts = dict.fromkeys(paragraph["context"] for paragraph in paragraphs)
        ids = {context: f"p-{at}" for at, context in enumerate(contexts)}
        asked = [
            Question(question["question"], "", ids[paragraph["context"]])
            for paragraph in paragraphs
            for question in paragraph["qas"]
            if not question.get("is_impossible")
        ]
        notes = [LabelledNote(note, content) for content, note in ids.items()]
        yield LabelledSet(path.stem, notes, asked)


def _rows(name: str, kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SETS / name / f"{kind}.jsonl").read_text("utf-8").splitlines()]


def _note(row: dict[str, Any]) -> LabelledNote:
    questions = [text for texts in row.get("questions", {}).values() for text in texts]
    return LabelledNote(row["id"], row["content"], row.get("title"), tuple(row.get("tags", ())), questions)


def _asked(row: dict[str, Any]) -> Iterator[Question]:
    for asked in row["asked"]:
        kind = WORDS if asked.get("kind") == WORDS else f"{asked['lang']}-{row['lang']}"
        yield Question(asked["text"], kind, row["id"], asked.get("answer", ""))
