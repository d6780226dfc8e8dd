"""Search with the model that we ship on the labelled sets: the passage shown, and how sure a hit is. The floors are
below the figures of `bench/retrieval`, so that they fail for a reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.labelled import LabelledSet, own
from bench.retrieval import Notes, confidence, passages

from chie.knowledge.embedding.base import Embedder
from chie.knowledge.service import KnowledgeService

REDIS = (
    "Redis started to answer `OOM command not allowed when used memory > 'maxmemory'`. The policy was noeviction; we"
    " set maxmemory-policy to volatile-lru and gave every session key a TTL."
)


@pytest.fixture(scope="module")
def labelled() -> LabelledSet:
    return own("test")


@pytest.fixture
def long_notes(tmp_path: Path, embedder: Embedder, labelled: LabelledSet) -> Iterator[Notes]:
    notes = Notes(tmp_path / "long", embedder, labelled.long_notes)
    yield notes
    notes.close()


@pytest.mark.req("SE-1")
def test_the_passage_shown_of_a_long_note_has_the_answer(labelled: LabelledSet, long_notes: Notes) -> None:
    assert len(labelled.long_notes) >= 40
    (figure,) = passages(labelled, long_notes)
    assert figure.value is not None
    assert figure.value >= 0.75, figure


@pytest.mark.req("SE-1")
@pytest.mark.req("SE-2")
@pytest.mark.parametrize(
    "query", ["cache server refuses writes because memory is full", "キャッシュサーバーのメモリが一杯で書き込めない"]
)
def test_paraphrase_finds_the_only_note(service: KnowledgeService, query: str) -> None:
    saved = service.save(REDIS)
    hits = service.search(query).hits
    assert [hit.id for hit in hits] == [saved.id]
    assert hits[0].content == REDIS


@pytest.mark.req("SE-2")
@pytest.mark.parametrize("query", ["What should I cook for dinner tonight?", "週末に子どもと行ける動物園"])
def test_question_on_another_subject_has_no_confident_hit_among_one_note(service: KnowledgeService, query: str) -> None:
    service.save(REDIS)
    assert not any(hit.confident for hit in service.search(query).hits)


@pytest.mark.req("SE-2")
def test_most_answerable_questions_are_found_and_few_others_have_a_confident_hit(
    tmp_path: Path, embedder: Embedder, labelled: LabelledSet
) -> None:
    found, silent, confident = (figure.value or 0 for figure in confidence(labelled, 50, embedder, tmp_path, None))
    assert found >= 0.9
    assert silent >= 0.85
    assert confident >= 0.35


@pytest.mark.req("SE-2")
def test_unanswerable_questions_have_no_confident_hit_among_300_notes(
    tmp_path: Path, embedder: Embedder, labelled: LabelledSet
) -> None:
    notes = Notes(tmp_path / "notes", embedder, labelled.notes)
    confident = [text for text in labelled.unanswerable if any(hit.confident for hit in notes.search(text).hits)]
    notes.close()
    assert len(confident) <= 0.15 * len(labelled.unanswerable), confident
