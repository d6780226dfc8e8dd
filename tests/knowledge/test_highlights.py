"""Highlighted ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.search.highlights import highlight


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("接続数", "nginx の接続数を増やす", ["接続数"]),
        ("接続の上限", "接続数の上限を上げる", ["接続", "の上限"]),
        ("raise connections", "Raising it: connection and Connections", ["Raising", "connection", "Connections"]),
        ("max_connections", "set MAX_CONNECTIONS = 100", ["MAX_CONNECTIONS"]),
        ("ｎｇｉｎｘ", "NGINX restarts", ["NGINX"]),
        ("docker", "ＤＯＣＫＥＲを再起動", ["ＤＯＣＫＥＲ"]),
        ("データベース", "ﾃﾞｰﾀﾍﾞｰｽに接続", ["ﾃﾞｰﾀﾍﾞｰｽ"]),
        ("ﾊﾞｯﾁ", "夜間バッチ処理", ["バッチ"]),
        ("データ", "NFD のテ\u3099ータ", ["テ\u3099ータ"]),
        ("café", "a cafe\u0301 nearby", ["cafe\u0301"]),
        ("さーば", "本番サーバー", ["サーバー"]),
        ("サーバーの設定", "新しいサーバの設定値", ["サーバの設定"]),
        ("vpn", "京都からVPNに入る", ["VPN"]),
        ("R", "統計はRで、for では書かない", ["R"]),
        ("two words", "it has two\nwords here", ["two\nwords"]),
        ("art", "party start art arts", ["art", "arts"]),
        ("nothing here", "別の話", []),
        ("🚀", "リリース🚀🚀", ["🚀🚀"]),
        ("の", "", []),
    ],
)
def test_the_words_of_the_query_are_marked(query: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in highlight(query, text)] == marked


@given(query=st.text(min_size=1, max_size=40), text=st.text(max_size=200))
def test_ranges_are_in_order_apart_and_within_the_text(query: str, text: str) -> None:
    position = -1
    for start, end in highlight(query, text):
        assert position < start < end <= len(text)
        position = end
