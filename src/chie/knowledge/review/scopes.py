"""Words that say where a statement holds. What holds in staging does not contradict what holds in production."""

import re

_GROUPS: tuple[dict[str, str], ...] = (
    {
        "development": r"\bdev(?:elopment)?\b|\blocal(?:ly|host)?\b|ローカル|開発",
        "test": r"\bCI\b|テスト環境|\btest environment\b|\bpreview\b|プレビュー",
        "staging": r"\bst(?:a)?g(?:ing)?\b|\bsandbox\b|ステージング|検証環境|サンドボックス|\bUAT\b",
        "production": r"\bprod(?:uction)?\b|\blive\b|本番",
        "lambda": r"\blambdas?\b",
    },
    {"windows": r"\bwindows\b", "linux": r"\blinux\b|\bubuntu\b|\bdebian\b", "mac": r"\bmac(?:os)?\b"},
    {"ios": r"\bios\b|\biphone\b", "android": r"\bandroid\b", "web": r"\bweb\b|ブラウザー?"},
    {"chrome": r"\bchrome\b", "safari": r"\bsafari\b", "firefox": r"\bfirefox\b", "edge": r"\bedge\b"},
    {
        "tokyo": r"\btokyo\b|東京|ap-northeast-1", "osaka": r"\bosaka\b|大阪|ap-northeast-3",
        "us": r"\bU\.?S\.?A?\b|アメリカ|米国|\bus-(?:east|west)-\d", "eu": r"\bEU\b|\beurope\b|欧州|\beu-[a-z]+-\d",
        "japan": r"\bjapan\b|日本(?!語)|国内",
    },
    {"japanese": r"日本語|\bjapanese\b", "english": r"英語|\benglish\b"},
    {
        "admin": r"管理者|\badmin(?:istrator)?s?\b", "visitor": r"ゲスト|\bg[u]ests?\b|匿名|\banonymous\b",
        "user": r"一般ユーザー?|\bordinary users?\b",
    },
    {
        "free": r"無料|\bfree (?:plan|tier)\b|トライアル|\btrial\b", "paid": r"有料|\bpaid\b|\bpro plan\b",
        "business": r"\bbusiness plan\b|法人|\benterprise\b",
    },
    {"get": r"(?-i:\bGET\b)", "post": r"(?-i:\bPOST\b)", "put": r"(?-i:\bPUT\b)", "delete": r"(?-i:\bDELETE\b)"},
    {"reads": r"\breads?\b(?! replica)|読み取り|参照系", "writes": r"\bwrites?\b|書き込み|更新系"},
    {"inside": r"社内|\binternal(?:ly)?\b", "outside": r"社外|\bexternal(?:ly)?\b|\boutside\b"},
    {"primary": r"\bprimary\b|プライマリー?", "replica": r"\breplicas?\b|レプリカ"},
    {
        "connect": r"\bconnect(?:ion)? timeout\b|接続の?タイムアウト",
        "read": r"\bread timeout\b|読み(?:取|込)りの?タイムアウト",
    },
    {
        "weekday": r"平日|\bweekdays?\b", "weekend": r"週末|土日|\bweekends?\b", "monday": r"月曜|\bmondays?\b",
        "tuesday": r"火曜|\btuesdays?\b", "wednesday": r"水曜|\bwednesdays?\b", "thursday": r"木曜|\bthursdays?\b",
        "friday": r"金曜|\bfridays?\b", "saturday": r"土曜|\bsaturdays?\b", "sunday": r"日曜|\bsundays?\b",
    },
    {
        "default": r"\bdefaults?\b|デフォルト|既定", "maximum": r"\bmax(?:imum)?\b|\bat most\b|最大|上限",
        "minimum": r"\bmin(?:imum)?\b|\bat least\b|最小|最低|下限",
    },
    {"soft": r"\bsoft\b|ソフト上限", "hard": r"\bhard\b|ハード上限"},
    {"start": r"\bstarts?\b|開始|始ま", "end": r"\b(?:ends?|stops?|finish(?:es)?)\b|終了|終わ"},
    {"add": r"\b(?:add|create)\b|追加|作成", "remove": r"\b(?:remove|delete|drop)\b|削除|消す"},
    {"day": r"日中|昼間|\bdaytime\b", "night": r"夜間|\bnightly\b|\bat night\b"},
    {"small": r"小さ[いな]|\bsmall(?:er)?\b", "large": r"大き[いな]|\blarger?\b|\bbig\b"},
)  # fmt: skip
_PATTERNS = tuple(
    tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in group.items()) for group in _GROUPS
)


def scopes(text: str) -> list[frozenset[str]]:
    """What the text names of each group."""
    return [frozenset(name for name, pattern in group if pattern.search(text)) for group in _PATTERNS]


def differ(a: list[frozenset[str]], b: list[frozenset[str]]) -> bool:
    """Whether both name something of one group, and nothing in common."""
    return any(one and other and not one & other for one, other in zip(a, b, strict=True))
