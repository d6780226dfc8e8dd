"""Encodings are told apart safely, or the file is refused."""

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.errors import ValidationError
from chie.knowledge.markdown.encodings import decode

PROSE = "サーバーが落ちたときは、まずログを見る。\r\n次に nginx を再起動する（約１０秒）。\r\n"
LISTS = "# 手順\n- コンテナのログを確認する\n- それでもだめなら再起動\n"


@pytest.mark.parametrize("text", [PROSE, LISTS, PROSE * 50, "メモ: nginx", "これは ﾃｽﾄ です。半角カナも少しあります。"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp932", "euc_jp", "iso2022_jp"])
def test_japanese_text_is_read(text: str, encoding: str) -> None:
    if encoding == "iso2022_jp" and "ﾃ" in text:
        pytest.skip("has no half-width kana")
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE])
def test_mark_decides_the_byte_order(mark: bytes) -> None:
    encoding = "utf-16-be" if mark == codecs.BOM_UTF16_BE else "utf-16-le"
    assert decode(mark + "日本語 text".encode(encoding)) == "日本語 text"


@pytest.mark.parametrize(
    "content",
    [
        "Ärger mit Größe und Übermaß".encode("latin-1"),
        "café, déjà vu, naïve résumé".encode("cp1252"),
        "Привет, мир. Это заметка о сервере.".encode("cp1251"),
        "Привет, мир. Это заметка о сервере.".encode("koi8-r"),
        "服务器的日志在这里，请先查看。".encode("gbk"),
        "伺服器的紀錄在這裡，請先查看。".encode("big5"),
        "서버 로그를 먼저 확인하세요.".encode("euc-kr"),
        "ｱｲｳｴｵｶ".encode("cp932"),  # also reads as kanji of EUC-JP
        "日本語".encode("cp932"),  # too short to be certain
        "サーバー".encode("utf-16-le"),  # without its mark
        b"\xff\xfe\x00bad?",  # half a character of UTF-16
        b"\x89PNG\r\n\x1a\n\x00\x00",
    ],
)
def test_uncertain_encoding_is_refused(content: bytes) -> None:
    with pytest.raises(ValidationError) as caught:
        decode(content)
    assert caught.value.code == "knowledge.file_encoding_unknown"


@given(st.text())
def test_utf_8_is_always_utf_8(text: str) -> None:
    content = text.encode(errors="ignore")
    if b"\x1b$" not in content:
        assert decode(content) == content.decode().removeprefix("\ufeff")


@given(st.binary())
def test_any_bytes_are_text_or_refused(content: bytes) -> None:
    with suppress(ValidationError):
        assert isinstance(decode(content), str)
