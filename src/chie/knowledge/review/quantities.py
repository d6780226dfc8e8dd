"""Numbers in a statement with what they measure, so that 2 s and 2000 ms are the same and 3 s and 3 MB no conflict."""

import re
from dataclasses import dataclass

from chie.knowledge.review import dates, periods

_DAY = 86_400.0
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("microsecond", "microseconds", "マイクロ秒"), ("time", 1e-6)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds", "ミリ秒"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒間"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "分", "分間"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "時間"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days", "日", "日間", "営業日"), ("time", _DAY)),
    **dict.fromkeys(("week", "weeks", "週", "週間"), ("time", 7 * _DAY)),
    **dict.fromkeys(("month", "months", "か月", "ヶ月", "カ月", "ケ月", "ヵ月", "か月間"), ("time", 30 * _DAY)),
    **dict.fromkeys(("quarter", "quarters", "四半期"), ("time", 90 * _DAY)),
    **dict.fromkeys(("year", "years", "年", "年間"), ("time", 360 * _DAY)),
    **dict.fromkeys(("b", "byte", "bytes", "バイト"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes", "キロバイト"), ("size", 1e3)),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes", "メガバイト"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes", "ギガバイト"), ("size", 1e9)),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes", "テラバイト"), ("size", 1e12)),
    **dict.fromkeys(("%", "percent", "パーセント"), ("share", 1.0)),
    "割": ("share", 10.0),
    **dict.fromkeys(("円", "yen", "jpy"), ("yen", 1.0)),
    **dict.fromkeys(("ドル", "dollar", "dollars", "usd"), ("usd", 1.0)),
    **dict.fromkeys(("ユーロ", "euro", "euros", "eur"), ("eur", 1.0)),
    **dict.fromkeys(("mm", "millimetres", "millimeters", "ミリメートル"), ("length", 0.001)),
    **dict.fromkeys(("cm", "centimetres", "centimeters", "センチ", "センチメートル"), ("length", 0.01)),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "メートル"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometres", "kilometers", "キロメートル"), ("length", 1e3)),
    **dict.fromkeys(("gram", "grams", "グラム"), ("weight", 0.001)),
    **dict.fromkeys(("kg", "kilograms", "キログラム"), ("weight", 1.0)),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes", "トン"), ("weight", 1e3)),
    **dict.fromkeys(("hz", "hertz", "ヘルツ"), ("frequency", 1.0)),
    **dict.fromkeys(("khz", "キロヘルツ"), ("frequency", 1e3)),
    **dict.fromkeys(("mhz", "メガヘルツ"), ("frequency", 1e6)),
    **dict.fromkeys(("ghz", "ギガヘルツ"), ("frequency", 1e9)),
    **dict.fromkeys(("kbps",), ("bandwidth", 1e3)),
    **dict.fromkeys(("mbps", "メガビット"), ("bandwidth", 1e6)),
    **dict.fromkeys(("gbps", "ギガビット"), ("bandwidth", 1e9)),
    **dict.fromkeys(("px", "ピクセル"), ("px", 1.0)),
}
# Things that are counted, in both languages; anything else is compared by its own word.
_COUNTED = {
    "文字": "character", "回": "times", "time": "times", "人": "user", "名": "user", "ユーザー": "user", "件": "row",
    "行": "row", "台": "instance", "プロセス": "process", "接続": "connection", "コネクション": "connection",
    "スレッド": "thread", "シャード": "shard", "レプリカ": "replica", "リクエスト": "request", "並列": "worker",
    "people": "user", "person": "user", "item": "row", "record": "row", "result": "row", "document": "row",
    "entry": "row", "node": "instance", "server": "instance", "replica": "instance", "machine": "instance",
    "attempt": "times", "char": "character", "retry": "times",
}  # fmt: skip
PERIOD = "period"
ANY_COUNT = "count"  # without a word for what is counted: 3 つ, 3 個
_LOOSE = {"", ANY_COUNT, "row"}  # 件 counts approvals as well as rows
_GENERIC = frozenset(("つ", "個", "本", "番", "系", "以上", "以下", "未満", "まで", "程度", "ほど", "段階", "番ポート"))
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_WRITTEN = {word: value for value, word in enumerate(_HOURS, start=1)} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_CLOCK = re.compile(
    r"(?<![\d:])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?!\d)(?:\s*(?P<half>[ap]m)\b)?"
    r"|(?<!\d)(?:(?P<jhalf>午前|午後|早朝|朝|昼の?|夕方|夜中の?|夜の?|深夜)\s*)?(?P<jh>[01]?\d|2[0-4])\s*時(?!間)(?:\s*(?P<jm>[0-5]?\d)\s*分|(?P<jm_half>半))?"
    r"|\b(?P<eh>1?\d)\s*(?P<ehalf>[ap]m)\b",
    re.IGNORECASE,
)
_HALVES = {"午前": "am", "午後": "pm", "早朝": "am", "朝": "am", "昼": "pm", "夕方": "pm"}
_HALVES |= dict.fromkeys(("夜中", "夜", "深夜"), "night")
_SPOKEN_CLOCK = re.compile(
    rf"\b(?P<hour>1?\d|{'|'.join(_HOURS)})(?:\s+o'clock)?\s+(?:in\s+the\s+(?P<part>morning|afternoon|evening)"
    r"|at\s+(?P<night>night))\b|\b(?P<noon>noon|midday)\b|正午|\b(?P<midnight>midnight)\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\bhalf\s+an?\s+(?P<unit>minute|hour|day|year)\b|\b(?:one|an?)\s+(?P<one>minute|hour|day|week|year)\s+and\s+a\s+half\b"
    r"|(?<!\d)(?P<whole>\d{1,6})\s*(?P<and_half>秒|分|時間|日|週間|か月|ヶ月|年)半|(?<![\d前後大過])半(?P<half>時間|日|年)",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"(?<!\d)(?P<parts>\d{1,6})\s*分の\s*(?P<count>\d{1,6})(?!\d)"
    r"|\b(?P<written>one|an?|two|three|four)[ -](?P<part>third|quarter|fifth|tenth)s?\s+of\b"
    r"|(?P<half>半分|(?<!過)半数|\bhalf\s+of\b)",
    re.IGNORECASE,
)
_PARTS = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_TWICE = re.compile(r"\btwice\b", re.IGNORECASE)
_KANJI = re.compile(
    r"(?<![\u4e00-\u9fff])(?:[二三四五六七八九](?=つ|個|人|本|番目)"
    r"|[一二三四五六七八九](?=回|名|台|件|割|倍|秒|分間|時間|日間|営業日|週間|か月|ヶ月|年間))"
)
_KANJI_DIGITS = str.maketrans("一二三四五六七八九", "123456789")
_RATE = re.compile(
    r"(?<!\d)1\s*(?!時間に\s*1\s*回|日に\s*1\s*回|分に\s*1\s*回)(?:台|行|ページ|つ|人|件|日|回|時間|分|秒)(?=\s*(?:あたり|当たり|につき|ごと|に(?!回)|で|)\s*(?:最大|約)?\s*\d|あたり|につき)"
    r"|\b(?:per|each|every|a|an)\s+(?:second|minute|hour|day|week|month|year)\b|毎[秒分時]|[/／](?:s|min|h)\b"
)
_ADDRESS = re.compile(r"(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|(?<!\d)\d{1,2}[.)](?=\s)")  # and list numbers
_SCALES = {"million": 1e6, "thousand": 1e3, "billion": 1e9, "千": 1e3, "万": 1e4, "億": 1e8}
_SIGNS = {"¥": "yen", "$": "usd", "€": "eur"}
_NUMBER = re.compile(
    r"(?<![A-Za-z_\d.#/=:-])(?P<sign>[$¥€])?[vV]?(?P<number>\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)*(?:\.x)?)"
    r"(?P<scale>\s*(?:million|thousand|billion|千|万|億))?(?=(?P<unit>\s*(?:%|[A-Za-z][a-zA-Z]*(?:\s[a-z]+){0,3}|[\u3041-\u30ff\u4e00-\u9fff]+))?)",
)
_WORDS = re.compile(  # not of `the last one fails`
    rf"(?<!\bthe )(?<!\blast )(?<!\bthis )(?<!\bthat )\b(?P<number>{'|'.join(_WRITTEN)})\s+"
    r"(?=(?P<unit>[a-z]+(?:\s[a-z]+){0,3})\b)",
    re.IGNORECASE,
)
_JAPANESE_UNIT = re.compile(
    "|".join(
        sorted(
            (re.escape(unit) for unit in {*_UNITS, *_COUNTED, *_GENERIC} if not unit.isascii()), key=len, reverse=True
        )
    )
)
_STOP = frozenset(
    "and or of in on at to for from by with as is are was be the a an it its than then so we if when that this which"
    " only has have will may can more less until after before every per instead times vs about".split()
)


@dataclass(frozen=True)
class Quantity:
    """`measure` is a dimension such as `time`, a clock time, what is counted, or empty for a bare number or version."""

    measure: str
    value: tuple[float, ...]
    text: str
    start: int
    end: int

    def agrees(self, other: "Quantity") -> bool:
        """Version 16 agrees with 16.3; other values must be equal."""
        if tolerance := _TOLERANCE.get(self.measure):
            return abs(self.value[0] - other.value[0]) <= tolerance * max(self.value[0], other.value[0])
        shorter = min(len(self.value), len(other.value))
        return self.value[:shorter] == other.value[:shorter]


_TOLERANCE = {"time": 0.04, PERIOD: 0.04, "size": 0.06}  # months of 30 or 31 days, MB of 1000 or 1024 kB
_DIMENSIONS = {dimension for dimension, _ in _UNITS.values()} | {PERIOD}


def quantities(statement: str) -> list[Quantity]:
    """In the order of the statement. Dates, list numbers and digits inside names are none."""
    digits = _KANJI.sub(lambda match: match.group().translate(_KANJI_DIGITS), statement)
    text = _blank(dates.PATTERN, digits)
    found = [_clock(match) for match in _CLOCK.finditer(text)]
    text = _blank(_CLOCK, text)
    found += [_spoken_clock(match) for match in _SPOKEN_CLOCK.finditer(text)]
    text = _blank(_SPOKEN_CLOCK, text)
    found += [Quantity(PERIOD, (periods.seconds(it),), it.group(), *it.span()) for it in periods.PATTERN.finditer(text)]
    text = _blank(periods.PATTERN, text)
    found += [_half(match) for match in _HALF.finditer(text)]
    text = _blank(_HALF, text)
    found += [_fraction(match) for match in _FRACTION.finditer(text) if match["parts"] != "0"]
    text = _blank(_ADDRESS, _blank(_RATE, _blank(_FRACTION, text)))
    found += [quantity for match in _NUMBER.finditer(text) if (quantity := _number(match))]
    found += [_written(match) for match in _WORDS.finditer(text)]
    found += [Quantity("times", (2.0,), match.group(), *match.span()) for match in _TWICE.finditer(text)]
    return sorted(found, key=lambda quantity: quantity.start)


def comparable(a: Quantity, b: Quantity) -> float:
    """1 if both measure the same, less if one of them does not say what it counts, 0 if they differ."""
    if a.measure == b.measure:
        return 1.0
    measures = {a.measure, b.measure}
    if measures == {"time", PERIOD}:
        return 0.5
    return 0.5 if measures & _LOOSE and not measures & (_DIMENSIONS | {"clock"}) else 0.0


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match.group()), text)


def _clock(match: re.Match[str]) -> Quantity:
    hour = int(match["h"] or match["jh"] or match["eh"])
    half = (match["half"] or match["ehalf"] or "").lower() or _HALVES.get((match["jhalf"] or "").removesuffix("の"), "")
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "pm" or (half == "night" and 5 < hour < 12) else 0)
    minute = 30 if match["jm_half"] else int(match["m"] or match["jm"] or 0)
    return Quantity("clock", (hour % 24 + minute / 60,), match.group().strip(), match.start(), match.end())


def _spoken_clock(match: re.Match[str]) -> Quantity:
    """`two in the morning`, `eleven at night`, `noon`, 正午."""
    if match["hour"]:
        hour = _WRITTEN[match["hour"].lower()] if match["hour"].isalpha() else int(match["hour"])
        morning = (match["part"] or "").lower() == "morning" or (match["night"] and hour % 12 == 0)
        hour = hour % 12 + (0 if morning else 12)
    else:
        hour = 0 if match["midnight"] else 12
    return Quantity("clock", (float(hour),), match.group(), *match.span())


def _half(match: re.Match[str]) -> Quantity:
    """`half an hour`, `an hour and a half`, 1時間半, 半日."""
    whole = int(match["whole"] or (1 if match["one"] else 0))
    unit = match["unit"] or match["one"] or match["and_half"] or match["half"]
    measure, factor = _UNITS[unit.lower()]
    return Quantity(measure, ((whole + 0.5) * factor,), match.group(), *match.span())


def _fraction(match: re.Match[str]) -> Quantity:
    """半分, 3分の1, `a quarter of`, in percent."""
    if match["half"]:
        count, parts = 1, 2
    elif match["part"]:
        count, parts = _WRITTEN.get(match["written"].lower(), 1), _PARTS[match["part"].lower()]
    else:
        count, parts = int(match["count"]), int(match["parts"])
    return Quantity("share", (100 * count / parts,), match.group(), *match.span())


def _number(match: re.Match[str]) -> Quantity | None:
    digits, unit = match["number"].replace(",", "").removesuffix(".x"), (match["unit"] or "").strip()
    scale = _SCALES.get((match["scale"] or "").strip(), 1.0)
    measure, factor, word = (_SIGNS[match["sign"]], 1.0, "") if match["sign"] else _measure(unit)
    gap = len(match["unit"] or "") - len(unit) if word else 0
    start, end = match.start(), match.end("scale" if match["scale"] else "number") + gap + len(word)
    text = match.string[start:end].strip()
    if measure in _DIMENSIONS:
        return Quantity(measure, (float(".".join(digits.split(".")[:2])) * factor * scale,), text, start, end)
    value = tuple(float(part) * scale for part in digits.split("."))
    if len(value) > 4 or len(digits) > 15:
        return None
    return Quantity(measure, value, text, start, end)


def _written(match: re.Match[str]) -> Quantity:
    measure, factor, word = _measure(match["unit"].lower())
    value = _WRITTEN[match["number"].lower()] * factor
    end = match.start("unit") + len(word) if word else match.end("number")
    return Quantity(measure, (float(value),), match.string[match.start() : end], match.start(), end)


def _measure(unit: str) -> tuple[str, float, str]:
    """What a unit measures, its factor, and as much of it as is one."""
    if not unit.isascii() and (known := _JAPANESE_UNIT.match(unit)):
        unit = known.group()
    elif not unit.isascii():
        return "", 1.0, ""
    unit = _counted_word(unit)
    folded = unit.lower().split()[-1] if unit else ""
    if unit and unit[0].isupper() and folded not in _UNITS:
        return "", 1.0, ""
    if folded in _UNITS and not (unit in "DH" and unit):
        return *_UNITS[folded], unit
    if folded in _GENERIC:
        return (ANY_COUNT if folded in ("つ", "個", "本", "段階") else "", 1.0, unit)
    if not folded or folded in _STOP:
        return "times" if folded == "times" else "", 1.0, unit if folded == "times" else ""
    counted = folded if not folded.isascii() else _singular(folded)
    return _COUNTED.get(counted, counted), 1.0, unit


def _counted_word(unit: str) -> str:
    """As many of the words after a number as say what is counted: `two working days`, `5 more waiting messages`."""
    words = unit.split(" ")
    first = words[0]
    if first.lower() in _UNITS or (first.lower() in _STOP and first.lower() != "more") or first.endswith("s"):
        return first
    for at, word in enumerate(words[1:], start=1):
        if word in _STOP:
            break
        if word in _UNITS or word.endswith("s"):
            return " ".join(words[: at + 1])
    return first


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
