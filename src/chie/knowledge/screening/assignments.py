"""Secrets that only their name tells: `password = "…"`, `--token …`, `パスワード：…`, in code, tables, XML and YAML."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from chie.knowledge.screening.placeholders import UUID, is_random, is_real_password, is_real_token

Secrecy = Literal["password", "token"]

MAX_NAME = 60
MAX_VALUE = 400
MAX_NESTED = 8  # names inside a value that are examined too, as in a connection string
MIN_BARE_KEY = 20  # of the value of a `…_KEY` that says nothing else


class Assigned(NamedTuple):
    secrecy: Secrecy
    start: int
    end: int


_KEYWORD = re.compile(
    r"passw(?:or)?d|passphrase|passcode|passwort|pwd|pass(?![a-z])|pw(?![a-z])|secret|token|credential|key(?![a-z])|(?<=[_\"'])auth(?=[\"']?\s?[:=])"
    r"|identified by|パスワード|パスフレーズ|パスコード|暗証番号|トークン|シークレット|APIキー|アクセスキー"
    r"|秘密鍵|認証キー",
    re.IGNORECASE,
)
_JAPANESE: dict[str, Secrecy] = {
    **dict.fromkeys(("パスワード", "パスフレーズ", "パスコード", "暗証番号"), "password"),
    **dict.fromkeys(("トークン", "シークレット", "APIキー", "アクセスキー", "秘密鍵", "認証キー"), "token"),
}
_PASSWORDS = frozenset(
    {"password", "passwd", "passphrase", "passcode", "passwort", "pwd", "pass", "pw", "identified by"}
)

_SUFFIX = re.compile(r"[A-Za-z0-9_.\-]{0,40}")
_FOR = re.compile(
    r"[ \t](?:for|of|to|on|in)[ \t][^\n:=|]{1,40}?(?=[ \t]?[:=]|[ \t]is[ \t])|[ \t]?[(（][^()（）\n]{1,30}[)）]"
)
_SEPARATOR = re.compile(
    r"""[\]"'`*_]{0,4}[ \t]{0,20}
    (?:
      ["']?\s{0,40}+(?:(?:,|:\s{0,4}\{)\s{0,40}+)?["']?value["']?\s{0,4}[:=]\s{0,4}
      | (?:=>|:=|\?=|={1,3}|:|：|＝|→|->)[ \t]{0,20}(?:\n[ \t]{0,20}(?=["'`])|[>|][-+]?\n[ \t]{1,20})?
      (?:[\w.]{2,30}\([ ]?["'][^"'\n]{0,60}["'],[ ]?(?=["']))?
      | \|[ \t]{0,20}
      | >(?=[^<>\n]{4,200}</)
      | (?=[「『])
      | [ \t](?:is|was|set[ ]to|equals)(?:[ \t]now)?:?[ \t]{1,4}
      | (?:は|が|に|を)(?:次|以下|下記)?(?:の(?:とおり|通り))?[：:、]?[ \t\u3000]{0,4}
      | (?P<quoted>[,(]|[ \t]|(?<=[dD]\ [bByY]))[ \t]{0,4}(?=\\?["'`「])
    )
    [ \t\u3000]{0,4}(?:[bru]?\\?(?P<open>["'`「『“]{1,3}))?""",
    re.VERBOSE,
)
_BLANK = re.compile(r"""[ \t]{1,4}(?P<open>["'])?""")
_CLOSING = {"「": "」", "『": "』", "“": "”"}
_BARE = re.compile(r"""[^\s"'`,;<>|)}\]「」『』、。（）]{4,400}""")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_KEYS_BEFORE = frozenset(
    """
    api access secret private auth authentication authorization encryption encrypt decryption signing
    signature master account shared sharedaccess license licence storage service admin subscription webhook
    function functions app application client server deploy jwt hmac crypto cipher session cookie aes preshared psk root
    write ingest integration ssh rsa data
    """.split()
)
_NO_SECRET_BEFORE = frozenset(
    """
    public pub publishable next page continuation pagination cursor sync cancellation cancel idempotency csrf
    xsrf antiforgery hashed encrypted sealed max min num total prompt completion input output cached no
    without forgot primary foreign sort partition cache object site anon measurement hash row unique lookup
    special stop eos bos pad unk mask sep cls design contract erc nft verification token request correlation
    trace resume sha256 sha512 sha1 md5 checksum integrity
    """.split()
)
_NO_SECRET_AFTER = frozenset(
    """
    hash hashed digest name names file files path dir url uri urls endpoint type types id ids length len min
    max policy field fields label hint placeholder expires expiry expiration expired exp ttl count counts
    limit limits header headers format regex pattern ref refs reference arn version algorithm alg prompt error
    errors message required enabled disabled reset usage budget at age size manager store provider validator
    rule rules strength attempts changed updated created env var variable alias class method func function
    column table param scope scopes issuer audience response request refresh interval timeout rotation engine
    backend mode status state title description help icon input form page link button fingerprint checksum
    signature sha sha256 md5 cache index ize izer ized s less word words selector validity source kind
    """.split()
)


def assigned(text: str) -> Iterator[Assigned]:
    """Values that stand where a secret does and look like one."""
    inside, end = 0, 0
    for keyword in _KEYWORD.finditer(text):
        inside = inside + 1 if keyword.start() < end else 0
        secrecy = None if inside > MAX_NESTED else _secrecy(text, keyword)
        if secrecy is None:
            continue
        suffix = _SUFFIX.match(text, keyword.end())
        at = suffix.end() if suffix else keyword.end()
        if about := _FOR.match(text, at):
            at = about.end()
        found = _SEPARATOR.match(text, at) or _BLANK.match(text, at)
        span = _value(text, found) if found else None
        if found is None or span is None:
            continue
        end = max(end, span[1])
        value = text[span[0] : span[1]]
        alone = found.re is _BLANK and not _is_option(text, keyword)
        if is_real(value, secrecy, sure=not alone, bare_key=_is_bare_key(text, keyword)):
            yield Assigned(secrecy, *span)


def is_real(value: str, secrecy: Secrecy, *, sure: bool = True, bare_key: bool = False) -> bool:
    """Unless its name and place are `sure` signs, the value must look random by itself."""
    if bare_key and (len(value) < MIN_BARE_KEY or UUID.fullmatch(value)):
        return False
    if not sure or bare_key:
        return is_random(value)
    return is_real_password(value) if secrecy == "password" else is_real_token(value)


def _words_before(text: str, start: int) -> list[str]:
    """The words of the name in front of the keyword, lower-case."""
    before = text[max(0, start - MAX_NAME) : start].rpartition("\n")[2]
    name = re.split(r"[^A-Za-z0-9_.\-/ ]", before)[-1]
    return [word.lower() for word in _WORD.findall(name)]


def _secrecy(text: str, keyword: re.Match[str]) -> Secrecy | None:
    """What the name around the keyword promises: a password, a token, or nothing secret."""
    if keyword.group() in _JAPANESE:
        return _JAPANESE[keyword.group()]
    if not _is_word(text, *keyword.span()):
        return None
    suffix = _SUFFIX.match(text, keyword.end())
    after = {one.lower() for one in _WORD.findall(suffix.group() if suffix else "")}
    before = _words_before(text, keyword.start())
    if after & _NO_SECRET_AFTER or set(before[-2:]) & _NO_SECRET_BEFORE:
        return None
    word = keyword.group().lower()
    if word == "key" and not (set(before[-1:]) & _KEYS_BEFORE or _is_bare_key(text, keyword)):
        return None
    return "password" if word in _PASSWORDS else "token"


def _is_word(text: str, start: int, end: int) -> bool:
    """Not the end or the beginning of another word, and not a part of an ARN."""
    if start and text[start - 1].isascii() and text[start - 1].isalpha() and not _starts_word(text, start):
        return False
    if end < len(text) and _continues_word(text, end):
        return False
    return text[max(0, start - 1) : end + 1] != ":secret:"


def _starts_word(text: str, start: int) -> bool:
    """camelCase, an abbreviation such as DBPASSWORD, or a prefix that is written together with it."""
    if text[start].isupper() and text[start - 1].islower():
        return True
    before = re.search(r"[A-Za-z]{1,12}$", text[max(0, start - 12) : start])
    return bool(before and before.group().lower() in _JOINED)


_JOINED = frozenset(
    "db my user admin root api auth access client app pg mysql redis smtp ftp ssh mail wifi git bot require x".split()
)


def _continues_word(text: str, end: int) -> bool:
    """`tokenizer`, `passwords`: the keyword is part of a longer lower-case word."""
    return text[end].isascii() and text[end].islower() and text[end - 1].islower()


def _is_bare_key(text: str, keyword: re.Match[str]) -> bool:
    """`OPENAI_KEY`: a name that ends in KEY and says nothing else about it."""
    start = keyword.start()
    if keyword.group().lower() != "key" or not start or text[start - 1] != "_":
        return False
    before = _words_before(text, start)
    return bool(before) and before[-1] not in _KEYS_BEFORE


def _is_option(text: str, keyword: re.Match[str]) -> bool:
    """`--password …`, `PGPASSWORD …` in a command, `login x password …` in .netrc."""
    line = text[max(0, keyword.start() - MAX_NAME) : keyword.start()].rpartition("\n")[2]
    return (
        bool(re.search(r"(?:^|\s)--?[a-z0-9\-]{0,20}$|\blogin\s+\S+\s+$|\b[Ii][Dd][Ee][Nn]\w*$", line))
        or keyword.group().lower() == "identified by"
    )


def _value(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where the value is that follows the separator."""
    start = found.end()
    opening = found.group("open")
    if opening:
        closing = text.find(_CLOSING.get(opening[0], opening[0]), start, start + MAX_VALUE)
        line = text.find("\n", start, start + MAX_VALUE)
        if closing < 0 or 0 <= line < closing:
            return None
        return start, closing - (text[closing - 1] == "\\")
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    return start, start + len(bare.group().rstrip(".:!?*)"))
