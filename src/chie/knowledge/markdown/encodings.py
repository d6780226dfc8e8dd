"""Decodes text files: UTF-8, Unicode with a byte order mark, and Japanese encodings where they are certain.

A wrong guess would store garbage without an error, so a file is refused unless exactly one encoding gives a text that
reads as Japanese.
"""

import codecs
import re

from chie.errors import ValidationError

# UTF-32's mark begins with UTF-16's, so it is tried first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]|\x1b\$\(D")  # escape sequences that begin Japanese characters
_JAPANESE = ("cp932", "euc_jp")

_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_READABLE = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e\u2010-\u203b\u2190-\u21ff\u2460-\u266f\uffe5]")
MIN_KANA = 0.1  # of the characters that are not ASCII; Chinese and Korean read as Japanese have none
MIN_READABLE = 0.8  # half-width kana do not count: any European text reads as such


def decode(content: bytes) -> str:
    """The text without its byte order mark. ValidationError if the encoding is not certain."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strict(content[len(mark) :], encoding) or _refuse(content[len(mark) :])
    if _ISO_2022_JP.search(content) and (text := _strict(content, "iso2022_jp_2")):
        return text
    if (text := _strict(content, "utf-8")) is not None:
        return text
    readings = {text for encoding in _JAPANESE if (text := _strict(content, encoding)) and _reads_as_japanese(text)}
    return readings.pop() if len(readings) == 1 else _refuse(content)


def _strict(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _reads_as_japanese(text: str) -> bool:
    foreign = [character for character in text if character > "\x7f"]
    kana, readable = (sum(map(bool, map(pattern.match, foreign))) for pattern in (_KANA, _READABLE))
    return kana >= MIN_KANA * len(foreign) and readable >= MIN_READABLE * len(foreign)


def _refuse(content: bytes) -> str:
    """An empty file is no error of its encoding."""
    if not content:
        return ""
    raise ValidationError("knowledge.file_encoding_unknown")
