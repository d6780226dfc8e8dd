"""Our tokenizer against the library that the model's file was made with."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from chie.knowledge.embedding.onnx import DEFAULT_MODEL, MAX_TOKENS
from chie.knowledge.embedding.wordpiece import WordPiece

FILE = DEFAULT_MODEL / "tokenizer.json"
LIBRARY = Tokenizer.from_file(str(FILE))
LIBRARY.enable_truncation(MAX_TOKENS)
OURS = WordPiece.load(FILE)
CORPUS = Path(__file__).parents[2] / "bench" / "sets" / "dev" / "notes.jsonl"
SINCE_THE_LIBRARY_LEARNT_UNICODE = 0.005  # share of characters that are newer or reclassified


def same(text: str) -> bool:
    return OURS.windows(text, MAX_TOKENS)[0] == LIBRARY.encode(text).ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "nginx の worker_connections を上げる",
        "ＰｏｓｔｇｒｅＳＱＬ　ﾊﾟｽﾜｰﾄﾞ　㈱ ½ ① ㌔",
        "がぎぐ か\u3099 は\u309a naïve Å ΣΊΣΥΦΟΣ İstanbul ŒUVRE",
        "a[CLS]b [SEP][MASK] [sep] [UNK",
        "tab\tnew\r\nline \x00\x1b[31mred\x7f \u200b\u00ad\ufeff\ufffd \u2028 \u3000 \x85",
        "$a+b=c|d~e^f`g<h> €5 → ★ 😀👩\u200d💻 «quotes» ‘x’ 。、・「」ー",
        "x" * 400,
        "x" * 401,
        "々〆ヶ 龥 ㍻ 한국어 العربية हिन्दी ไทย",
        "とても長い文章です。" * 400,
        "word " * 1000,
    ],
)
def test_these_texts_have_the_same_numbers(text: str) -> None:
    assert same(text)


def test_every_text_of_the_retrieval_figure_has_the_same_numbers() -> None:
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    texts = [value for row in rows for value in row.values() if isinstance(value, str)]
    assert len(texts) > 40
    assert [text for text in texts if not same(text)] == []


@given(st.text(st.characters(max_codepoint=0x2DFF, exclude_categories=["Cs", "Cn", "Po", "Cf"]), max_size=60))
def test_any_text_has_the_same_numbers(text: str) -> None:
    assert same(text)


@given(st.text(st.sampled_from("aZé か漢ー、。[]#$_-/0９ \n\u3000ｱﾞが"), max_size=120))
def test_mixtures_of_both_languages_have_the_same_numbers(text: str) -> None:
    assert same(text)


def test_only_characters_newer_than_the_library_differ() -> None:
    codes = [*range(0x3500), *range(0xD7F0, 0xD800), *range(0xE000, 0x20000)]  # ideographs are all of one kind
    assigned = [chr(code) for code in codes if unicodedata.category(chr(code)) not in ("Cn", "Co")]
    differ = [letter for letter in assigned if not same(f"a{letter}b")]
    assert len(differ) < SINCE_THE_LIBRARY_LEARNT_UNICODE * len(assigned)
    assert [letter for letter in differ if letter < "\u0600" or unicodedata.category(letter) in ("Ll", "Lu")] == []


def test_unsupported_tokenizer_is_rejected(tmp_path: Path) -> None:
    content = json.loads(FILE.read_text(encoding="utf-8"))
    content["model"]["type"] = "BPE"
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match="unsupported tokenizer"):
        WordPiece.load(tmp_path / "tokenizer.json")
