"""The signature of an error: a line of it without what changes from one occurrence to the next.

Paths, numbers, hashes, times and quoted names are masked, so that two people who meet the same error have the same
signature. A note keeps the signatures of the errors that it explains. Masking a signature again leaves it as it is.

A line is a chain of messages (`outer: inner: cause`). Signatures are compared by their key, the heaviest clause of the
innermost message, where a word weighs less the more failures have it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from chie.knowledge.recall.error_words import COMMON, STOP
from chie.unicode import normal

MAX_LINES = 200  # of an output, from its end; errors are rarely far above it
MAX_PRINTED = 1_600  # characters of a line with its escape sequences; no pattern meets more
MAX_LINE = 400  # characters of a line without them
MAX_SIGNATURE = 300
MAX_KEPT = 2  # signatures of one failure that a note keeps
KEPT_SHARE = 0.9  # how specific the second must be, compared with the first

_ANSI = re.compile(r"\x1b\[[0-9;?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)")
_QUOTE = (
    r"\"[^\"\n]{0,200}\"|(?<![A-Za-z0-9])'[^'\n]{1,200}'(?![A-Za-z0-9])|`[^`\n]{1,200}`|`[^'\n]{1,200}'"
    r"|‘[^’\n]{1,200}’|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』"
)
_MASKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,30}+://[^\s\"'`<>)\]、。]+", re.IGNORECASE), "<url>"),
    (re.compile(_QUOTE), lambda found: _quoted(found.group())),
    (re.compile(r"\b(?:SHA\d+|MD5):[\w+/=:]+"), "<id>"),
    (
        re.compile(
            r"\[?\b[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){0,9}\.(?:com|dev|io|net|org|local|internal|jp|example|test)\b\]?(?::\d+)?"
        ),
        "<name>",
    ),
    (re.compile(r"\b[\w.+-]{1,64}+@[\w-]++(?:\.[\w-]++)++"), "<name>"),
    (
        re.compile(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?"),
        "<time>",
    ),
    (
        re.compile(
            r"(?<![\w.])(?:[a-z]:)?[\\/](?:[\w.@+~-]++[\\/])*+[\w.@+~-]*(?::\d+)*(?:\(\d+(?:,\d+)*\))?", re.IGNORECASE
        ),
        "<path>",
    ),
    (
        re.compile(r"(?<![\w<])(?:\.{1,2}[\\/])?(?:[\w.@+~-]++[\\/])+[\w.@+~-]++(?::\d+)*(?:\(\d+(?:,\d+)*\))?"),
        "<path>",
    ),
    (re.compile(r"(?<![\w.])[\w-]{1,100}+\.[a-z][a-z0-9]{0,4}(?:(?::\d+)+|\(\d+(?:,\d+)*\))"), "<path>"),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?:0x[0-9a-f]+|(?=[a-f]*+\d)(?=\d*+[a-f])[0-9a-f]{7,64})\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=[A-Za-z+/]*+\d)(?=[^A-Z\s]*+[A-Z])(?=[^a-z\s]*+[a-z])[A-Za-z0-9+/]{16,}={0,2}"), "<id>"),
    (re.compile(r"(?<![\w-])[a-z0-9]+(?:[-_][a-z0-9]+)*[-_]\d+(?![\w-])", re.IGNORECASE), "<name>"),  # shop-web-1
    (
        re.compile(r"(?<![\w<])v?\d+(?:[.,:]\d+)*(?:\s?(?:ms|s|sec|seconds|minutes|秒|分|[kmg]i?b|bytes))?(?![\w>])"),
        "<n>",
    ),
    (
        re.compile(r"(?<![A-Z])(?<![A-Z]\d)(?<![A-Z]\d\d)(?<![A-Z]\d{3})(?<![A-Z]\d{4})\d+"),
        "<n>",
    ),  # TS2742 and E0308 stay
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
    r"|problem|locked|pending|\b(?:not?|nor|none)\b|n't\b"
    r"|エラー|失敗|できません|できない|ません|致命的|例外|拒否|不正|無効|未定義|超え|違反|切れ|古い|未登録|タイムアウト|競合|重複",
    re.IGNORECASE,
)
# Lines that many different failures print.
_GENERIC = re.compile(
    r"^(?:exit code|traceback \(|a complete log|code <n>|errno|\*\*\*|command failed|the command|script .* exited"
    r"|process completed|build failed|compilation failed|tests? failed|short test summary|elifecycle|lifecycle script"
    r"|tests?:? (?:files )?<n> |failed, <n> passed|<n> (?:tests|examples|errors|warnings)|failure: build failed"
    r"|test session starts|found <n> errors?|task .* failed|job for "
    r"|categoryinfo|fullyqualifiederrorid|at line:|run "
    r"|info\b|debug\b|warn\b|note\b|at |file <name>|in file included|during handling|the above exception|caused by:?$)"
    r"|\] error <n>$|errors? occurred$|compiled with <n>|rsync error|cannot continue$|tasks: top"
    r"|(?:\w{1,40}=<n>[ ,]{1,9}){2}\w{1,40}=<n>|\b(?:INFO|DEBUG|NOTICE)\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"could not compile|aborting due to|exited with code|returned non-zero exit|returned <n> exit status"
    r"|exit (?:status|code):? <n>|did not complete successfully|for more information"
    r"|requested url returned|full stack trace|logs? for details"
    r"|ログを(?:確認|参照)|詳細は",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Failure|Fault)\b|\bE[A-Z]{4,}\b|\b[A-Z]{1,5}-?\d{3,}\b")
_CODE = re.compile(r"\b([A-Z]{1,6}-?)(\d{3,8})\b")
_WORD = re.compile(
    r"[a-z]+(?:-[a-z]+){2,}|~?[a-z]{2,}|[\u3040-\u309f]+|[\u30a1-\u30ff]+|[\u3400-\u9fff]+", re.IGNORECASE
)
_PACKAGE = re.compile(r"\b(?:\w+(?:\.|::))+(?=\w*(?:Error|Exception|Failure|Fault)\b)")
_IDENTIFIER = re.compile(  # counts where both have it, and is not missed where one has not
    r"\*?\b(?!\w*(?:Error|Exception|Failure|Fault)\b)(?:[A-Za-z]*[a-z][A-Z]\w*|\w+_\w+|\w+(?:\.\w+)+"
    r"|(?<=\w )[A-Z][a-z]+|(?!E[A-Z]{5})[A-Z]{3,})\b"
)
_RESULT = re.compile(r"\bfail(?:ed|ure|s)?\b|失敗|異常終了", re.IGNORECASE)
_ADVICE = re.compile(
    r"\b(?:could not|unable to|did not)\b|^(?:fix|please|try|you may|run|check|ensure|make sure|see|to [a-z]+)\b"
    r"|ください$",
    re.IGNORECASE,
)
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_LATIN = re.compile(r"(?<![~A-Za-z])[A-Za-z]{2,}")
_MASK = re.compile(r"<\w+>")
_CHAIN = re.compile(r":\s|:(?=[\u3040-\u9fff])|\s-\s|=>|：")  # from the outermost message to its cause
_CLAUSE = re.compile(r"[;,.]\s|。|[()\[\]{}|（）]")
_ASIDE = re.compile(r"\s\([^()]{0,200}\)|（[^（）]{0,200}）")
MIN_WORDS = 3
MIN_WEIGHT = 1.2  # of a clause that stands for its line; a lighter one is compared as the whole line
SAME_SHARE = 0.62  # of the weight of the words of both
LONG_WEIGHT, LONG_SHARE = 5.0, 0.45  # long clauses hold names that are not quoted
ROUNDING = 1e-6  # sums of weights depend on their order
FIRST = 0.6  # the first error is more often the cause than the others
RESULT, ADVICE = 2.5, 1.5  # lighter: "build failed" and "try again" are no cause


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
    """The signatures that stand for this failure: its most specific error line, and another that is as specific."""
    lines = list(_lines(output))
    errors = [core for line, core in lines if _ERROR.search(line) or _CLASS.search(line)]
    scores = {core: _specificity(core) for core in errors or (core for _, core in lines)}
    first = next(iter(scores), "")
    ranked = sorted(scores, key=lambda line: scores[line] + FIRST * (line == first), reverse=True)[:MAX_KEPT]
    return [line for line in ranked if scores[line] >= KEPT_SHARE * scores[ranked[0]]]


def recognised(signatures: Iterable[str], output: str) -> set[str]:
    """Those of the signatures whose key the output has, but for light words: tools wrap each other's messages, and
    names are not always quoted."""
    lines = all_of(output)
    joined = [f"{one} {two}" for one, two in pairwise(lines)]  # a message that was wrapped
    said, codes = _Said({clause for line in lines + joined for clause in _clauses(line)}), _codes("\n".join(lines))
    return {one for one in signatures if said.has(_key(one)) and _agree(_codes(one), codes)}


class _Said:
    """The clauses of an output, found by their words: thousands of keys are compared with thousands of clauses."""

    def __init__(self, clauses: Iterable[frozenset[str]]) -> None:
        self._with: dict[str, list[frozenset[str]]] = {}
        for clause in clauses:
            for word in clause:
                self._with.setdefault(word, []).append(clause)

    def has(self, key: frozenset[str]) -> bool:
        known = sorted(self._with.keys() & key, key=lambda word: len(self._with[word]))
        weight = _weight(known)
        if weight < LONG_SHARE * _key_weight(key):
            return False
        least = LONG_SHARE * _weight(word for word in key if word[0] != "~") - ROUNDING
        for word in known:  # the rarest first; a clause without any of these has less than the least
            if any(_same(key, clause) for clause in self._with[word]):
                return True
            weight -= _word_weight(word)
            if weight < least:
                return False
        return False


def _same(key: frozenset[str], words: frozenset[str]) -> bool:
    both = key & words
    common = _weight(both)
    either = _weight(word for word in key | words if word in both or word[0] != "~")
    return common >= (LONG_SHARE if common >= LONG_WEIGHT else SAME_SHARE) * either > 0


def _agree(own: frozenset[tuple[str, str]], others: frozenset[tuple[str, str]]) -> bool:
    """TS2742 is not TS2322; but not every tool prints the code."""
    letters = {at for at, _ in others}
    return all(code in others or code[0] not in letters for code in own)


def _clauses(line: str) -> frozenset[frozenset[str]]:
    """The words of each clause of a line, of each message in its chain, and of the whole line."""
    chain = _CHAIN.split(line)
    parts = (*(part for link in chain for part in _CLAUSE.split(link)), *chain, line, _ASIDE.sub(" ", line))
    return frozenset(words for part in parts if (words := _words(part)))


@lru_cache(maxsize=65_536)
def _key(line: str) -> frozenset[str]:
    """The words that must be met again: of the heaviest clause of the innermost message that says enough, else of the
    whole line."""
    for link in reversed(_CHAIN.split(_ASIDE.sub(" ", line))):
        best = max(map(_words, _CLAUSE.split(link)), key=_weight)
        if _weight(best) >= MIN_WEIGHT:
            return best
    return _words(line)


def _weight(words: Iterable[str]) -> float:
    return sum(map(_word_weight, words))


@lru_cache(maxsize=65_536)
def _key_weight(key: frozenset[str]) -> float:
    return _weight(key)


def _word_weight(word: str) -> float:
    if word in STOP:
        return 0.1
    if word in COMMON:
        return 0.4
    return 0.2 if word[0] == "~" or "ぁ" <= word[0] <= "ゟ" else 1


def _lines(output: str) -> Iterator[tuple[str, str]]:
    """Each specific line, masked, and its core."""
    for line in output.splitlines()[-MAX_LINES:]:
        masked = _masked(line)
        core = mask(masked)
        if len(_words(core)) >= MIN_WORDS and not _generic(masked, core):
            yield masked, core


def _innermost(core: str) -> str:
    """The last message of a chain that has words."""
    return next((link for link in reversed(_CHAIN.split(core)) if _words(link)), "")


def _generic(masked: str, core: str) -> bool:
    return bool(_GENERIC.search(masked) or _GENERIC.search(core) or _SUMMARY.search(_innermost(core)))


def _masked(line: str) -> str:
    text = normal(_ANSI.sub("", line[:MAX_PRINTED])).strip()[:MAX_LINE]
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())[:MAX_SIGNATURE]


def _core(masked: str) -> str:
    """Without labels before it and references after it."""
    for edge in (_LABEL, _TRAILER):
        while (found := edge.search(masked)) and found.group():
            masked = masked[: found.start()] + masked[found.end() :]
    return masked


def _quoted(text: str) -> str:
    """A quoted name is masked; a quoted message is not a name."""
    inner = text[1:-1]
    return inner if len(inner.split()) >= MIN_WORDS and _ERROR.search(inner) else "<name>"


def _specificity(line: str) -> float:
    last = _innermost(line)
    return (
        min(_weight(_key(line)), 6)
        + 0.5 * bool(_CLASS.search(line))
        + bool(_ERROR.search(line))
        - RESULT * bool(_RESULT.search(last))
        - ADVICE * bool(_ADVICE.search(last))
    )


def _identifier(found: re.Match[str]) -> str:
    return "~" + re.sub(r"[\W\d_]", "", found.group())


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    text = _IDENTIFIER.sub(_identifier, _PACKAGE.sub("", _MASK.sub(" ", text)))
    if _HIRAGANA.search(text):  # its other words are names
        text = _LATIN.sub(r"~\g<0>", text)
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _codes(text: str) -> frozenset[tuple[str, str]]:
    """Error codes: their letters and their number."""
    return frozenset(_CODE.findall(text))
