"""How often something happens, as the time from once to the next: every week, 隔週, hourly, 15分ごと."""

import re

_DAY = 86_400.0
_SECONDS = {
    **dict.fromkeys(("minute", "分"), 60.0),
    **dict.fromkeys(("hour", "hourly", "時間", "毎時"), 3_600.0),
    **dict.fromkeys(("day", "night", "morning", "evening", "daily", "nightly"), _DAY),
    **dict.fromkeys(("日", "毎日", "毎朝", "毎晩", "毎夜", "日次"), _DAY),
    **dict.fromkeys(("week", "weekly", "週", "週間", "毎週", "週次"), 7 * _DAY),
    **dict.fromkeys(("month", "monthly", "月", "か月", "ヶ月", "カ月", "毎月", "月次"), 30 * _DAY),
    **dict.fromkeys(("quarter", "quarterly", "四半期", "毎四半期"), 90 * _DAY),
    **dict.fromkeys(("year", "yearly", "annually", "年", "毎年", "年次"), 360 * _DAY),
    "隔日": 2 * _DAY,
    **dict.fromkeys(("biweekly", "fortnightly", "隔週"), 14 * _DAY),
    "隔月": 60 * _DAY,
    "隔年": 720 * _DAY,
}
_NUMBERS = {word: count for count, word in enumerate("two three four five six seven eight nine ten".split(), start=2)}
_NUMBERS |= {"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30}

_UNIT = "minute|hour|day|week|month|quarter|year"
_COUNT = rf"\d{{1,6}}|one|{'|'.join(_NUMBERS)}"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_ONCE = r"に?\s*(?:1\s*[回度]|一度)"  # 週1回, 日に一度
PATTERN = re.compile(
    rf"\b(?:every|each)\s+(?:(?:(?P<other>other|second)|single)\s+)?(?P<every>{_UNIT}|night|morning|evening)\b"
    rf"|\b(?:every|each)(?:\s+(?P<alternate>other|second))?(?=\s+(?P<weekday>{_WEEKDAY})\b)"
    rf"|\bevery\s+(?P<count>{_COUNT})[ -](?P<unit>{_UNIT})s\b"
    rf"|\b(?P<apart>{_COUNT})[ -](?P<interval>{_UNIT})\s+intervals?\b"
    rf"|\bonce\s+(?:an?|every|per)\s+(?P<once>{_UNIT})\b"
    r"|(?P<word>\b(?:hourly|daily|nightly|(?:bi)?weekly|fortnightly|monthly|quarterly|yearly|annually)\b"
    r"|毎(?:四半期|[日週月年朝晩夜]|時(?!\s*\d))|隔[日週月年]|[日週月年]次)"
    rf"|(?<!\d)1?(?P<japanese_once>日|週間?|[かヶカ]?月|年){_ONCE}"
    rf"|(?<![\d.])(?P<japanese_count>\d{{1,6}})\s*(?P<japanese>分|時間|日|週間?|[かヶカ]月|年)(?:おき|ごと|毎|間隔|{_ONCE})",
    re.IGNORECASE,
)  # fmt: skip


def seconds(match: re.Match[str]) -> float:
    """From once to the next, for a match of the pattern."""
    count = (match["count"] or match["apart"] or match["japanese_count"] or "1").lower()
    number = int(count) if count.isdigit() else _NUMBERS.get(count, 1)
    if match["other"] or match["alternate"]:
        number = 2
    if match["weekday"]:
        return number * _SECONDS["week"]
    names = ("every", "unit", "interval", "once", "word", "japanese_once", "japanese")
    return number * _SECONDS[next(match[name] for name in names if match[name]).lower()]
