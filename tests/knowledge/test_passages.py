from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.embedding.onnx import DEFAULT_MODEL, MAX_TOKENS
from chie.knowledge.note import Note
from chie.knowledge.passages import indexed_text, split

MOMENT = datetime(2026, 4, 1, tzinfo=UTC)


def note(content: str, title: str = "") -> Note:
    return Note(id="k-1", title=title or content[:30], content=content, created_at=MOMENT, updated_at=MOMENT)


@given(st.text(min_size=1, max_size=3000))
def test_passages_cover_the_content_in_order_and_overlap(content: str) -> None:
    passages = split(note(content))
    assert passages[0].start == 0
    assert passages[-1].end == len(content)
    for before, after in pairwise(passages):
        assert before.start < after.start <= before.end < after.end
    assert all(passage.text == content[passage.start : passage.end] for passage in passages)


def test_a_short_note_is_one_passage() -> None:
    assert [passage.text for passage in split(note("短いメモ。\n\n二段落目。"))] == ["短いメモ。\n\n二段落目。"]


@pytest.mark.parametrize(
    "sentence", ["接続数が上限に達したので設定を見直した。", "We raised the limit and restarted the pool. "]
)
def test_long_text_is_cut_at_sentences(sentence: str) -> None:
    passages = split(note(sentence * 100))
    assert len(passages) > 3
    assert all(passage.text.strip().endswith(sentence.strip()[-1]) for passage in passages)
    assert all(sentence.strip().startswith(passage.text.strip()[:5]) for passage in passages)


@pytest.mark.parametrize(
    "text", ["接続数が上限に達した。", "raise the limit ", "if (x != y) { z[i++] = f(a, b); }\n", "あ", "🔐", "x"]
)
def test_passages_fit_into_the_default_model(text: str) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(DEFAULT_MODEL / "tokenizer.json"))
    lengths = [len(tokenizer.encode(passage.text).ids) for passage in split(note(text * (6000 // len(text))))]
    assert max(lengths) <= MAX_TOKENS


def test_every_passage_is_read_with_the_title() -> None:
    long = note("本文。" * 300, title="題名")
    assert all(indexed_text(long, passage).startswith("題名\n") for passage in split(long))


def test_derived_title_is_not_embedded_twice() -> None:
    short = note("nginx answers 413")
    assert indexed_text(short, split(short)[0]) == "nginx answers 413"
