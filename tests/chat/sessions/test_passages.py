"""The passage of a message that a search found."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.chat.sessions.passages import LENGTH, passage_of
from chie.unicode import fold

LETTERS = st.text(alphabet=list("abＡﾃﾞデ\u3099テ障害ßﬃé\u0301한ᄒ\u1161「」 \n*`#|"), max_size=1_500)


def marked(content: str, query: str) -> tuple[str, list[str]]:
    found = passage_of("m", "user", content, query)
    return found.text, [found.text[start:end] for start, end in found.ranges]


@pytest.mark.req("AG-8")
@pytest.mark.parametrize(
    ("content", "query", "text", "marks"),
    [
        ("nginx の障害", "障害", "nginx の障害", ["障害"]),
        ("Ｎｇｉｎｘ and NGINX", "nginx", "Ｎｇｉｎｘ and NGINX", ["Ｎｇｉｎｘ", "NGINX"]),
        ("ﾃﾞﾌﾟﾛｲの手順", "デプロイ", "ﾃﾞﾌﾟﾛｲの手順", ["ﾃﾞﾌﾟﾛｲ"]),
        ("A coffee", "FF", "A coffee", ["ff"]),
        ("Straße", "STRASSE", "Straße", ["Straße"]),
        ("## 手順\n\n- **止める**\n- `start` する", "する", "手順 止める start する", ["する"]),
        ("2 ** 3", "2 ** 3", "2 ** 3", ["2 ** 3"]),
        ("nothing of it", "else", "nothing of it", []),
    ],
)
def test_matches_are_marked_in_both_languages(content: str, query: str, text: str, marks: list[str]) -> None:
    assert marked(content, query) == (text, marks)


@pytest.mark.req("AG-8")
@pytest.mark.parametrize("filler", ["word ", "長い文章。", "ｶﾞﾗｽ、", "한국어 "])
def test_a_long_message_is_cut_around_the_match(filler: str) -> None:
    text, marks = marked(filler * 20_000 + "ここに NEEDLE がある" + filler * 20_000, "ｎｅｅｄｌｅ")
    assert marks == ["NEEDLE"]
    assert (text[0], text[-1]) == ("…", "…")
    assert len(text) <= LENGTH + 2


@pytest.mark.req("AG-8")
@given(before=LETTERS, after=LETTERS, form=st.sampled_from(["NFC", "NFD", "NFKC"]))
def test_what_is_marked_is_what_was_searched(before: str, after: str, form: str) -> None:
    content = before + " ここの障害 " + after
    text, marks = marked(unicodedata.normalize(form, content), "この障害")  # type: ignore[arg-type]
    assert marks
    assert {fold(mark) for mark in marks} == {"この障害"}
    assert "\n" not in text
