"""Whether a clause affirms or denies, in Japanese and English."""

import re

# ない before a noun describes the noun: 使われていない機能.
_NOT_BEFORE = r"(?!と|うち|よう|もの|[\u30a1-\u30ff\u4e00-\u9fff])"
# Each match turns the clause round once: `not disabled` affirms.
_CUES = re.compile(
    r"\b(?:not|never|no|none|nothing|cannot|without|neither|forbidden|forbids?|prohibit(?:s|ed)?|disallowed|impossible"
    r"|unsupported|unsafe|disabled?|disabling|(?<!-)off|immutable|read-only|in(?:secure|complete|active)"
    r"|un(?:signed|encrypted|available|reliable|protected|limited|restricted|authenticated|ordered)"
    r"|avoid|unnecessary|optional|instead of|rather than)\b|n't\b"
    rf"|(?<![少つ])な(?:い{_NOT_BEFORE}|く|かった|ければ(?!なら))|ません"
    r"|(?<=[わらかさたばがえけせれ])ず(?=[、に。\s]|$)|なし(?!で?は)"
    r"|禁止|不要|不可|無効|廃止|終了(?!後|する|す|に)|だめ|ダメ|非対応|未対応|非公開|対象外|NG\b|やめ"
)
# Double negatives and phrases that deny nothing: must not be missing, とは限らない is a denial all the same.
_NEUTRAL = re.compile(
    r"しか[^。、]{0,12}?(?:な(?:い|かった)|ません)|(?:なければ|なくては|ないと)(?:なら|いけ|だめ)(?:ない|ません)?|かもしれ(?:ない|ません)|間違いな[いく]|問題(?:は)?(?:ない|ありません)"
    r"|少なくとも|少なく|なくなっ|(?:not|no)\s+(?:only|just|longer than|more than|later than|less than|exceptions?)"
    r"|no\s+problem|off\s+(?:by|the|with)|number\s+no\b|without\s+exceptions?|例外(?:は)?(?:なし|ない|認めない)",
    re.IGNORECASE,
)
# A condition says when something holds, not whether it does: `if it does not start, …`, `起動しない場合`.
_CONDITION = re.compile(
    r"^\s*(?:to|if|when|unless|whenever|where|once|before|after|until|otherwise|or|so that|in order)\b"
    r"|(?:場合|とき|時|たら|れば|ないと|なければ|ても|ずに)(?:は|には|に)?$",
    re.IGNORECASE,
)


def is_condition(clause: str) -> bool:
    return _CONDITION.search(clause) is not None


_PREDICATE = re.compile(rf"\b(?:not|never|cannot)\b|n't\b|(?<![少つ])な(?:い{_NOT_BEFORE}|かった)|ません")


def is_negated(clause: str) -> bool:
    """Whether the verb of the clause is negated, so that a value in it does not hold."""
    return _PREDICATE.search(_NEUTRAL.sub(" ", clause.replace("’", "'")).lower()) is not None


def denies(clause: str) -> bool:
    cues = _CUES.findall(_NEUTRAL.sub(" ", clause.replace("’", "'")).lower())
    return len(cues) % 2 == 1


def cue(clause: str) -> tuple[int, int] | None:
    """Where the clause denies, if it does."""
    found = _CUES.search(_NEUTRAL.sub(lambda match: " " * len(match.group()), clause.replace("’", "'")).lower())
    return found.span() if found else None


# What held once: `used to`, 以前は. Its values contradict nothing.
PAST = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )\bused to\b|\bformer(?:ly)?\b|\buntil\b|\bno longer\b|\bpreviously\b"
    r"|\bin the past\b|\bthe old\b|\bhad\b|\bremoved in\b|\blegacy\b|\bbefore the\b"
    r"|以前|かつて|昔|旧|当時|当初|だった|でした|ていた(?!だ)|までは|廃止|過去",
    re.IGNORECASE,
)
# An exception or a special case beside a rule.
EXCEPTION = re.compile(
    r"だけは|だけ(?!で)|のみ|例外(?:として|的|は|で|と)|の例外|除[きくい]|以外"
    r"|\bexcept(?:ion)?\b|\bonly\b|\bunless\b",
    re.IGNORECASE,
)
