"""Words that exclude each other without a negation: automatically and by hand, faster and slower."""

import re

_PAIRS = (
    (
        r"自動|\bautomatic(?:ally)?\b",
        r"手動|手作業|手で|\bmanual(?:ly)?\b|\bby hand\b",
    ),
    (
        r"(?<!非)同期|\bsynchronous(?:ly)?\b",
        r"非同期|\basynchronous(?:ly)?\b",
    ),
    (
        r"(?<!非)公開|\bpublic(?:ly)?\b",
        r"非公開|\bprivate(?:ly)?\b",
    ),
    (
        r"必須|必要|\brequired\b|\bmandatory\b",
        r"任意|不要|\boptional\b|\bnot needed\b",
    ),
    (
        r"許可|できる|てよい|てもよい|\bmay\b|\ballowed\b|\bcan\b",
        r"禁止|できない|てはいけない|てはならない|\bforbidden\b|\bmust not\b",
    ),
    (
        r"有効|\benabled?\b|\bturned on\b",
        r"無効|\bdisabled?\b|\bturned off\b",
    ),
    (
        r"\bbefore\b|の?前に",
        r"\bafter\b|の?[後あ]とに|の?後に",
    ),
    (
        r"\bslower\b|遅い|遅く|遅か",
        r"\bfaster\b|速い|速く|速か",
    ),
    (
        r"\binclud(?:es?|ed|ing)\b|含め|含む|含ま(?!な)",
        r"\bexclud(?:es?|ed|ing)\b|\bskip(?:s|ped)?\b|除外|対象外|含めない|含まない|含まれない",
    ),
    (
        r"\bworks?\b|\bsucceeds?\b|\bpass(?:es)?\b|動く|動作する|成功|通る",
        r"\bfails?\b|\bfailing\b|\bbreaks?\b|\bcrash(?:es)?\b|動かない|失敗|落ちる|通らない",
    ),
    (
        r"\bkeeps?\b|\bkept\b|\bretain(?:s|ed)?\b|\bstays?\b|残る|残す|残し|保持",
        r"\bdeletes?d?\b|\bremoves?d?\b|\blost\b|消える|消す|消え|削除|失われ",
    ),
    (
        r"\bincreas(?:es?|ed|ing)\b|\brais(?:es?|ed)\b|増や|増え|上げ|上が",
        r"\bdecreas(?:es?|ed|ing)\b|\breduc(?:es?|ed)\b|\blower(?:s|ed)?\b|減ら|減り|減っ|下げ|下が",
    ),
    (
        r"\bbetter\b|\bimproves?d?\b|改善|良い|よい結果",
        r"\bworse\b|\bdegrades?d?\b|悪化|悪い",
    ),
    (
        r"\ball\b|\bevery\b|すべて|全て|全員|全部|全社",
        r"\bonly\b|\bsome\b|のみ|だけ|一部|限定",
    ),
    (
        r"\bsafe(?:ly)?\b|\bfine\b|安全|問題ない|問題なし|大丈夫",
        r"\bunsafe\b|\bnever\b|\bdangerous\b|\bcareful\b|危険|注意|してはいけない|しないこと",
    ),
    (
        r"\bneeds?\b|\bmust\b|\bhas to\b|\bhave to\b|必須|必要|こと(?:。|$)|必ず",
        (
            r"\bno need\b|\boptional\b|\b(?:doesn't|don't|do not|does not) (?:need|have) to\b|不要|必要はない|必要ない"
            r"|必要なし|なくて(?:も)?(?:よい|いい|良い|OK)|任意"
        ),
    ),
    (
        r"\bfixed\b|\bresolved\b|\bsolved\b|\bgone\b|解消|解決|直っ|修正済",
        r"\bstill\b|\bpersists?\b|\bnot fixed\b|未解決|再発|まだ|直って(?:い)?ない|直らない|解消して(?:い)?ない",
    ),
    (
        r"\bin-h[o]use\b|\bourselves\b|社内|自社|内製",
        r"\boutsourced?\b|\bvendor\b|社外|外注|委託",
    ),
    (
        r"\bsame\b|同じ|共通|共有",
        r"\bdifferent\b|\bseparate(?:ly)?\b|別|異な|個別",
    ),
)
_OPPOSITES = tuple((re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE)) for one, other in _PAIRS)


def opposite(a: str, b: str) -> bool:
    """Whether each text has only one side of a pair of such words, and not the same."""
    return any(_only(one, other, a, b) or _only(one, other, b, a) for one, other in _OPPOSITES)


def _only(one: re.Pattern[str], other: re.Pattern[str], a: str, b: str) -> bool:
    return bool(one.search(a)) and bool(other.search(b)) and not other.search(a) and not one.search(b)
