"""The signature of an error: a line of it without what changes from one occurrence to the next.

Paths, numbers, hashes, times and quoted names are masked, so that two people who meet the same error have the same
signature. A note keeps the signatures of the errors that it explains. Masking a signature again leaves it as it is.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from chie.unicode import normal

MAX_LINES = 200  # of an output, from its end; errors are rarely far above it
MAX_LINE = 400  # characters
MAX_SIGNATURE = 300
MAX_KEPT = 3  # signatures of one failure that a note keeps
KEPT_SHARE = 0.6  # how specific the second must be, compared with the first

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
_QUOTE = (
    r"\"[^\"\n]{1,200}\"|(?<![A-Za-z0-9])'[^'\n]{1,200}'(?![A-Za-z0-9])|`[^`\n]{1,200}`|`[^'\n]{1,200}'"
    r"|‘[^’\n]{1,200}’|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』"
)
_MASKS = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'`<>)\]、。]+", re.IGNORECASE), "<url>"),
    (re.compile(_QUOTE), "<name>"),
    (re.compile(r"\b(?:SHA\d+|MD5):[\w+/=:]+"), "<id>"),
    (
        re.compile(
            r"\[?\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|dev|io|net|org|local|internal|jp|example|test)\b\]?(?::\d+)?"
        ),
        "<name>",
    ),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "<name>"),
    (
        re.compile(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?"),
        "<time>",
    ),
    (
        re.compile(
            r"(?<![\w.])(?:[a-z]:)?[\\/](?:[\w.@+~-]+[\\/])*[\w.@+~-]*(?::\d+)*(?:\(\d+(?:,\d+)*\))?", re.IGNORECASE
        ),
        "<path>",
    ),
    (re.compile(r"(?<![\w<])(?:\.{1,2}[\\/])?(?:[\w.@+~-]+[\\/])+[\w.@+~-]+(?::\d+)*(?:\(\d+(?:,\d+)*\))?"), "<path>"),
    (re.compile(r"(?<![\w.])[\w-]+\.[a-z][a-z0-9]{0,4}(?:(?::\d+)+|\(\d+(?:,\d+)*\))"), "<path>"),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?:0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64})\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=[A-Za-z+/]*\d)(?=[^A-Z\s]*[A-Z])(?=[^a-z\s]*[a-z])[A-Za-z0-9+/]{16,}={0,2}"), "<id>"),
    (re.compile(r"(?<![\w-])[a-z0-9]+(?:[-_][a-z0-9]+)*[-_]\d+(?![\w-])", re.IGNORECASE), "<name>"),  # shop-web-1
    (
        re.compile(r"(?<![\w<])v?\d+(?:[.,:]\d+)*(?:\s?(?:ms|s|sec|seconds|minutes|秒|分|[kmg]i?b|bytes))?(?![\w>])"),
        "<n>",
    ),
    (
        re.compile(r"(?<![A-Z])(?<![A-Z]\d)(?<![A-Z]\d\d)(?<![A-Z]\d{3})(?<![A-Z]\d{4})\d+"),
        "<n>",
    ),  # TS2742 and E0308 stay
    (
        re.compile(r"(?<=\bproject )\S+|(?<=\bcontainer )\S+|(?<=\bmodule )\S+|(?<=\bservice )\S+", re.IGNORECASE),
        "<name>",
    ),
)
# What tools and log collectors write before a line: `#12 3.456`, `web-1  |`, `[ERROR]`, `psql:`, `npm ERR!`, `E   `.
_LABEL = re.compile(
    r"^(?:[^\w<(]+|<\w+>(?=[\s\]:|)>/.,-]|$)|\([^()]*\)(?=\s*:)|(?:npm|pnpm|yarn) (?:ERR!|error)|[EWIF]\d{4} (?=<time>)"
    r"|(?i:error|fatal|warning|detail|hint|severe|critical|info|E)(?=[\s:\]|]|$)"
    r"|(?![\w.]*(?:Error|Exception|Failure|Fault)\b)[a-z][\w.-]{0,29}(?:\[(?:<n>|\d+)\])?(?=\s*[:|](?:\s|<|\())"
    r"|(?:app|web|host)?<n>\s?月|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?=<n>)"
    r"|[\w<>-]+ (?=[\w.-]+\[<n>\]:))"
)
_TRAILER = re.compile(r"[\s.。!:…]+$|\s*\[<\w+>\]$|\s*-> \[Help <n>\]$")
_ERROR = re.compile(
    r"error|exception|fail|fatal|panic|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|invalid"
    r"|unexpected|undefined|unresolved|unknown|missing|mismatch|conflict|exceed|too (?:many|large|long)|time[d]?.?out"
    r"|expired|unsupported|unauthori[sz]ed|forbidden|not (?:permitted|allowed|supported|defined|available|exist)"
    r"|does not|doesn't|must be|already|abort|killed|reject|unreachable|incompatible|not compatible|unhealthy|cycle"
    r"|エラー|失敗|できません|できない|ません|致命的|例外|拒否|不正|無効|未定義|超え|タイムアウト|競合|重複",
    re.IGNORECASE,
)
# Lines that many different failures print.
_GENERIC = re.compile(
    r"^(?:exit code|traceback \(|a complete log|code <n>|errno|\*\*\*|command failed|the command|script .* exited"
    r"|process completed|build failed|compilation failed|tests? failed|short test summary|elifecycle|lifecycle script"
    r"|tests?:? (?:files )?<n> |failed, <n> passed|<n> (?:tests|examples|errors|warnings)|failure: build failed"
    r"|test session starts|found <n> errors?|task .* failed|job for |failed to start"
    r"|categoryinfo|fullyqualifiederrorid|at line:|run "
    r"|info\b|debug\b|warn\b|note\b|at |file <name>|in file included|during handling|the above exception|caused by:?$)"
    r"|could not compile|aborting due to|exited with code|returned non-zero exit|returned <n> exit status"
    r"|exit (?:status|code):? <n>|did not complete successfully|for more information"
    r"|requested url returned|full stack trace|logs? for details"
    r"|ログを(?:確認|参照)|詳細は|\b(?:INFO|DEBUG|NOTICE)\b",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Failure|Fault)\b|\bE[A-Z]{4,}\b|\b[A-Z]{1,5}-?\d{3,}\b")
_WORD = re.compile(r"[a-z]{2,}(?:[-_.][a-z]+)*|[\u3040-\u30ff\u3400-\u9fff]{2}", re.IGNORECASE)
_MASK = re.compile(r"<\w+>")
MIN_WORDS = 3
SAME_WORDS = 0.8  # of a signature's words that a line must have
SAME_SHARE = 0.6  # of the words of both


def mask(line: str) -> str:
    """The signature of a line. Until nothing changes, because a label can hide what a mask would match."""
    before, after = line, _core(_masked(line))
    while after != before:
        before, after = after, _core(_masked(after))
    return after


def all_of(output: str) -> list[str]:
    """The signatures of all lines of a failed command that say something specific."""
    return list(dict.fromkeys(core for _, core in _lines(output)))


def kept_of(output: str) -> list[str]:
    """The signatures that stand for this failure: its most specific error lines, the first of equals, or else its last
    line."""
    lines = list(_lines(output))
    errors = dict.fromkeys(core for line, core in lines if _ERROR.search(line) or _CLASS.search(line))
    ranked = sorted(errors, key=_specificity, reverse=True)[:MAX_KEPT] or [core for _, core in lines[-1:]]
    return [line for line in ranked if _specificity(line) >= KEPT_SHARE * _specificity(ranked[0])]


def recognised(signatures: Iterable[str], output: str) -> set[str]:
    """Those of the signatures that a line of the output has, but for a word or two: names are not always quoted."""
    lines = [(_words(line), _codes(line)) for line in all_of(output)]
    has = frozenset().union(*(words for words, _ in lines))
    return {one for one in signatures if _words(one) & has and any(_same(one, *line) for line in lines)}


def _same(signature: str, words: frozenset[str], codes: frozenset[str]) -> bool:
    own = _words(signature)
    common = len(own & words)
    if not _codes(signature) <= codes or common < min(MIN_WORDS, len(own)):
        return False
    return common >= SAME_WORDS * len(own) and common >= SAME_SHARE * len(own | words)


def _lines(output: str) -> Iterator[tuple[str, str]]:
    """Each specific line, masked, and its core."""
    for line in output.splitlines()[-MAX_LINES:]:
        masked = _masked(line)
        core = mask(masked)
        if len(_words(core)) >= MIN_WORDS and not (_GENERIC.search(masked) or _GENERIC.search(core)):
            yield masked, core


def _masked(line: str) -> str:
    text = normal(_ANSI.sub("", line)).strip()[:MAX_LINE]
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())[:MAX_SIGNATURE]


def _core(masked: str) -> str:
    """Without labels before it and references after it."""
    for edge in (_LABEL, _TRAILER):
        while (found := edge.search(masked)) and found.group():
            masked = masked[: found.start()] + masked[found.end() :]
    return masked


def _specificity(line: str) -> float:
    return min(len(_words(line)), 12) + 4 * bool(_CLASS.search(line)) + 2 * bool(_ERROR.search(line))


@lru_cache(maxsize=65_536)
def _words(line: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(_MASK.sub(" ", line)))


@lru_cache(maxsize=65_536)
def _codes(line: str) -> frozenset[str]:
    return frozenset(_CLASS.findall(line))
