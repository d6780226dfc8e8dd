"""Passages follow the text: what is shown is whole, and nothing of it is lost to the index."""

from datetime import UTC, datetime
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.note import Note
from chie.knowledge.search.blocks import blocks
from chie.knowledge.search.passages import MAX_SHOWN, MAX_WHOLE_NOTE, MIN_SHOWN, Passage, Weights, split

pytestmark = pytest.mark.req("SE-1")

MOMENT = datetime(2026, 4, 1, tzinfo=UTC)
FENCE = "```sh\n" + "kubectl get pods --all-namespaces\n" * 12 + "```\n"
RUNBOOK = f"""# 障害対応手順

名前解決が遅いときの手順です。{"まず監視の画面で遅延を確認します。" * 12}

## 確認

- 一つ目の項目です。{"ここで応答時間を測ります。" * 6}
- 二つ目の項目です。{"設定ファイルを読みます。" * 6}
  続きの行です。
- 三つ目の項目です。

## 修正

{FENCE}
`ndots:5` を `ndots:2` にして、CoreDNS のキャッシュを増やします。{"再起動は不要です。" * 10}

| 環境 | 値 |
|---|---|
| 本番 | 2 |
| 検証 | 3 |

## 後始末

- [ ] 再発防止
"""

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# 見出し\n",
            "## Section\n",
            "本文の文です。" * 5 + "\n",
            "A sentence of some length that says something. " * 6 + "\n",
            "- 項目です\n",
            "  - nested item\n",
            "- [ ] todo\n",
            "```\n",
            "~~~py\n",
            "    indented code\n",
            "| a | b |\n",
            "|---|---|\n",
            "\n",
            "===\n",
            "---\n",
            "あ" * 500 + "\n",
            "x" * 3000,
            "🔐",
        ]
    ),
    min_size=1,
    max_size=40,
).map("".join)


def note(content: str, title: str = "") -> Note:
    return Note(id="k-1", title=title or content[:30], content=content, created_at=MOMENT, updated_at=MOMENT)


def shown(content: str) -> list[str]:
    return [content[start:end] for (start, end), _ in groupby(split(note(content)), _range)]


def _range(passage: Passage) -> tuple[int, int]:
    return passage.start, passage.end


@given(st.one_of(st.text(min_size=1, max_size=3000), MARKDOWN))
def test_what_is_shown_covers_the_content_without_gap_or_overlap(content: str) -> None:
    assert "".join(shown(content)) == content
    assert all(piece for piece in shown(content))


@given(st.one_of(st.text(min_size=1, max_size=3000), MARKDOWN))
def test_everything_that_is_shown_is_indexed(content: str) -> None:
    for (start, end), passages in groupby(split(note(content)), _range):
        texts = [passage.text for passage in passages]
        rest = content[start:end]
        for text in texts:  # each ends with its part, after title and headings
            size = next(size for size in range(len(text), -1, -1) if rest.startswith(text[len(text) - size :]))
            assert size, (text, rest)
            rest = rest[size:]
        assert not rest


@given(st.one_of(st.text(max_size=3000), MARKDOWN))
def test_blocks_cover_the_text(text: str) -> None:
    found = blocks(text)
    assert [block.start for block in found[:1]] == [0] * bool(found)
    assert all(before.end == after.start for before, after in pairwise(found))
    assert not found or found[-1].end == len(text) or not text[found[-1].end :].strip()


@pytest.mark.parametrize("content", ["短いメモ。\n\n二段落目。", "# A\n\n" + "語" * 700, "word " * 150])
def test_a_note_of_a_few_paragraphs_is_shown_whole(content: str) -> None:
    assert len(content) <= MAX_WHOLE_NOTE
    assert shown(content) == [content]


def test_code_fences_list_items_and_table_rows_stay_whole() -> None:
    pieces = shown(RUNBOOK)
    assert len(pieces) > 1
    for whole in (FENCE, "  続きの行です。\n- 三つ目", "| 環境 | 値 |\n|---|---|\n| 本番 | 2 |\n"):
        assert sum(whole in piece for piece in pieces) == 1, whole
    assert all(piece.count("```") % 2 == 0 for piece in pieces)


def test_headings_stay_with_their_text_and_small_tails_join_their_neighbour() -> None:
    pieces = shown(RUNBOOK)
    assert all(not piece.strip().rpartition("\n")[2].startswith("#") for piece in pieces)
    assert all(Weights(piece).of(0, len(piece)) >= MIN_SHOWN for piece in pieces)
    assert "再発防止" in pieces[-1]
    assert "検証" in pieces[-1]


@pytest.mark.parametrize(
    "sentence", ["接続数が上限に達したので設定を見直した。", "We raised the limit and restarted the pool. "]
)
def test_long_paragraphs_are_cut_at_sentences(sentence: str) -> None:
    pieces = shown(sentence * 200)
    assert len(pieces) > 3
    assert all(Weights(piece).of(0, len(piece)) <= MAX_SHOWN + MIN_SHOWN for piece in pieces)
    assert all(piece.strip().endswith(sentence.strip()[-1]) for piece in pieces)
    assert all(sentence.strip().startswith(piece.strip()[:5]) for piece in pieces)


def test_a_long_fence_is_cut_between_lines() -> None:
    log = "```\n" + "2026-04-01 12:00:00 ERROR connection refused\n" * 200 + "```\n"
    pieces = shown(log)
    assert len(pieces) > 1
    assert all(piece.endswith("\n") for piece in pieces)


def test_passages_are_indexed_with_title_and_headings() -> None:
    found = split(note(RUNBOOK, title="DNS の遅延"))
    fix = next(passage for passage in found if "CoreDNS" in passage.text)
    assert fix.text.startswith("DNS の遅延\n障害対応手順\n修正\n")
    assert "確認\n" not in fix.text


def test_derived_title_is_not_indexed_twice() -> None:
    assert [passage.text for passage in split(note("nginx answers 413"))] == ["nginx answers 413"]
