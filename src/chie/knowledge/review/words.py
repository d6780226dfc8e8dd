"""The words of a statement that carry meaning, and those of them that name something."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chie.knowledge.search.tokens import one_spelling, stem

_PIECE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|(?P<latin>[#@]?[A-Za-z][A-Za-z0-9_+#]*(?:[-./:@\\<>*=]+[A-Za-z0-9_<>*]+)*|[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<address>(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?)"
    r"|(?P<mixed>[\u4e00-\u9fff][\u3041-\u3096][\u4e00-\u9fff][\u3041-\u3096](?![\u3041-\u3096]*[^\u3041-\u3096]?て))"
    r"|(?P<kanji>[\u3005\u4e00-\u9fff]+)"
    r"|(?P<katakana>[\u30a1-\u30ff]{2,})"
)
MAX_PERSON = 4  # characters of a family name
_KANJI_AFFIX = re.compile(r"^[各全約毎他本](?=[\u4e00-\u9fff]{2})|(?<=[\u4e00-\u9fff]{2})[用数時化性的側系後前中内先]$")
_CALENDAR = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|January|February|March|April|June|July|August|September|October|November|December"
)
_CODE = re.compile(r"[^\s`\"'-][^\s`\"']*")
_PERSON = re.compile(r"(?:さん|氏|様)")
_BEFORE_VALUE = re.compile(r"\b(?:uses?|using|with|via|called|named)\s$", re.IGNORECASE)
_AFTER_VALUE = re.compile(r"\s*(?:[.;,(]|$)")
# Grammar, and verbs and nouns of notes in general, which say nothing about the subject.
_COMMON = frozenset(
    """
    a an and any are as at be been before by can cannot could do does don done each either every for from
    get gets got had has have how i if in into is it its itself just like may might more most much must my
    need needs no nor not nothing now of off on once one only or other our ours out over own per same
    should since so some still such than that the their them then there these they this those through to too
    two under until up us use used uses using very was we were what when where which while who why will with
    within without would you your about above after again against all also always am because being below
    between both but during ever here nobody never none rather run runs running set sets setting settings
    configured currently goes go going make makes made via let lets please new one's keep kept work works
    working take takes want see means mean way thing things write written value default called named name
    enough least maximum minimum exactly roughly version first example e.g i.e etc isn aren doesn don't didn
    won
    """.split()
)
_COMMON_JAPANESE = frozenset(
    """
    使用 利用 設定 変更 現在 場合 必要 実行 対応 確認 以上 以下 未満 以内 以降 最大 最小
    上限 下限 既定 記載 参照 指定 管理 採用 基本 方針 必ず 自動 手動 原則 今後 現状 可能
    不可 禁止 不要 有効 無効 終了 廃止 許可 開始 作成 追加 方法 理由 原因 対処 結果
    バージョン デフォルト ルール こと とき もの ため 年間 時間 毎日 毎週 毎晩 毎月 程度
    前後 約
    """.split()
)


@dataclass(frozen=True)
class Word:
    """`key` is how the word is compared; a `name` is an identifier, a product, a person, a path."""

    key: str
    text: str
    name: bool
    start: int
    end: int

    @property
    def identifier(self) -> bool:
        """Two of them are the same or not; they are not more or less alike, as words are."""
        return self.name and not self.key.isalpha()


def words(statement: str) -> list[Word]:
    japanese = _is_japanese(statement)
    found: list[Word] = []
    for match in _PIECE.finditer(statement):
        found += _word(match, japanese=japanese, first=not found and match.start() <= 1)
    return found


def _word(match: re.Match[str], *, japanese: bool, first: bool) -> list[Word]:
    text, kind, start = match.group(), match.lastgroup, match.start()
    if kind in ("code", "address"):
        return [Word(part.lower(), part, True, start, match.end()) for part in _CODE.findall(text)]
    if kind == "latin":
        return _latin(match, japanese=japanese, first=first)
    if kind == "kanji" and len(text) <= MAX_PERSON and _PERSON.match(match.string, match.end()):
        return [Word(text, text, True, start, match.end())]
    parts = _kanji(text) if kind == "kanji" else [text]
    return [
        Word(one_spelling(part) if kind == "katakana" else part, part, False, start, match.end())
        for part in parts
        if part not in _COMMON_JAPANESE and (len(part) > 1)
    ]


def _latin(match: re.Match[str], *, japanese: bool, first: bool) -> list[Word]:
    text = match.group()
    folded = text.lower()
    if len(text) == 1 or (folded in _COMMON and ((first and not japanese) or text.islower())):
        return []
    identifier = not text.isalpha() or (not text.isupper() and any(map(str.isupper, text[1:])))
    if _CALENDAR.fullmatch(text):
        return [Word(folded, text, False, *match.span())]
    name = identifier or japanese or (text[0].isupper() and not first) or _is_value(match)
    if "-" in text and text.replace("-", "").isalpha() and text.islower():  # a compound such as `read-only`
        return [Word(_stem(part), part, japanese, *match.span()) for part in folded.split("-") if part not in _COMMON]
    return [Word(folded if identifier else _stem(folded), text, name, *match.span())]


def _is_value(match: re.Match[str]) -> bool:
    """Whether a word is what the statement says of its subject: `the proxy is nginx`, `written with vitest`."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    return _BEFORE_VALUE.search(before) is not None and _AFTER_VALUE.match(after) is not None


def _kanji(run: str) -> list[str]:
    """Compounds in halves, as in 全文 + 検索, without affixes such as 用 and 数."""
    run = _KANJI_AFFIX.sub("", run)
    if len(run) < 4:
        return [run]
    return [run[at : at + 2] for at in range(0, len(run) - 3, 2)] + [run[(len(run) - 2) // 2 * 2 :]]


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return stem(word)


def _is_japanese(text: str) -> bool:
    return any("\u3041" <= character <= "\u9fff" for character in text)
