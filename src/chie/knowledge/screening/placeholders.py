"""Tells values that could be real secrets from placeholders, documented examples, references and code."""

import base64
import binascii
import itertools
import math
import re
from collections import Counter
from hashlib import sha256

MIN_PASSWORD = 8
MIN_TOKEN = 12
MIN_ENTROPY = 2.6  # bits per character; a random hexadecimal string of 16 characters has about 3.2

# Words that occur in placeholders anywhere. They are long enough not to occur in random values by chance.
_WORDS = re.compile(
    r"example|placeholder|changeme|change[-_]?(?:me|it|this)|replace|redacted|masked|removed|dummy|fake|sample|insecure"
    r"|password|passwd|passw0rd|p[a@][s$]{2}w[o0]rd|s[e3]cr[e3]t|mysecret|hunter2|foobar|yourtoken|deadbeef|c0ffee|cafebabe"
    r"|lorem|todo|notreal|not[-_]a[-_]|invalid|testing|testtest|test[-_]?(?:key|token|pass|user|123)|default|minioadmin"
    r"|letmein|hoge|fuga|piyo|qwerty|asdf|welcome1|admin123|unchanged|undefined|unset|here$|\byour|^your|^my[-_]|ダミー|サンプル|例$|秘密",
    re.IGNORECASE,
)
# Words that make a placeholder only between delimiters.
_DELIMITED = re.compile(
    r"(?:^|[-_.\s:/])(?:test|tests|testing|mock|stub|demo|foo|bar|baz|abc|abc123|xyz|xxx|token|secret|key|pass|pwd|pw|user|admin|root"
    r"|gues[t]|none|null|nil|true|false|here|value|string|empty|hidden|some|any|real|todo|tbd|fixme|local|localhost|postgres|mysql)(?:$|[-_.\s:/\d])",
    re.IGNORECASE,
)
# References to a value that is kept elsewhere, templates, masks.
_REFERENCE = re.compile(
    r"[<＜〈].*[>＞〉]?|\$.*|.*\$\{.*|.*\{\{.*|\{.*\}|%[\w(].*|@\w+@|.*\*{3}.*|.*(?:\.{3}|…|•{3}|●{2}|·{3}).*|.*[xX]{4}.*|_+|-+|\[.*"
    r"|(?:op|vault|ssm|secretsmanager|keyring|gcpsm|sm|azurekeyvault|file|env|ref|arn|urn|pass|bws|doppler|https?)(?::|\+).*"
    r"|(?:[.~]{0,2}/|[A-Za-z]:\\|projects/|secrets?/|kv/).*|ENC\[.*|!vault.*|AQICAHh.*|vault:v\d.*|U2FsdGVkX1.*"
    r"|(?:sha(?:1|224|256|384|512)|md5|blake2b)[-:=].*|\$?(?:2[aby]|argon2\w*|[156y]|pbkdf2\w*|scrypt|bcrypt)\$.*"
    r"|pbkdf2.*|\{SSHA.*|scrypt:.*|SCRAM-.*|md5[0-9a-f]{32}",
    re.IGNORECASE | re.DOTALL,
)
# Code: calls, attributes, subscripts, names of variables and types.
_CODE = re.compile(
    r".*\w(?:\(.*|\[.*)|NAME(?:(?:\.|::|->|\?\.)NAME)+[;,]?|!?&?[a-z_]+|[A-Z_]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*"
    r"|[a-z]+(?:[-_.][a-z]+)*|[A-Z]+(?:[-_][A-Z0-9]{1,4})*|[A-Z][A-Z_]*_[A-Z0-9_]*|f[\"'].*|.*[|].*|\W+".replace(
        "NAME", r"(?:[_$]{0,2}[A-Za-z][a-z]*+(?:(?:_[A-Z]?|[A-Z])[a-z]{2,}+)*+\d?|[A-Z_]+)"
    ),
)
_SHAPE = re.compile(
    r"v?\d+(?:\.\d+)+\S{0,12}|\d{4}-\d\d-\d\d.*|\d{1,7}|\d+(?:ms|s|m|h|d|kb|mb|gb|px|%)|\w[\w.+-]*@[\w-]+\.[\w.-]+"
    r"|[A-Z]?[a-z]+\d{0,2}|[A-Za-z]{2,8}[-_]?(?:12|123|1234|12345|123456|2024|2025|2026)!?",
)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

# SHA-256 (first 16 digits) of values in public documentation, which would look real to other scanners too.
_DOCUMENTED = frozenset(
    {
        "00cf4c781dc37003",
        "03e9a37a6d27b0a0",
        "051d093c4bdedbf2",
        "08831f80b56414a9",
        "0b5dd075ccdd03c4",
        "13d31e961a1ad8ec",
        "153a182586451358",
        "209aedaac26a2352",
        "2cafc0970149a84f",
        "3543c50b0cb9cea8",
        "511c2249afed266e",
        "53f5da0aaa93d64c",
        "584b27d64ebc1b33",
        "587ca79a46287674",
        "6509ef1c23c005f8",
        "693b953d227b7b66",
        "6c96130f130ab0d6",
        "74e11884b07b1d51",
        "7e498f91828a193c",
        "86007eb367696d32",
        "9e309cccd311ea64",
        "aa6547439583c3a2",
        "ac9265e56c79b234",
        "ad71fb4165536675",
        "b8e148545b13c78b",
        "bc3ae723f57c6b9e",
        "bdfeaef44475711c",
        "c6526b2c498c4e92",
        "c6720be143daf521",
        "c6ea27c534f993d3",
        "ca7459e2b26776de",
        "cf4d418ed3de92d7",
        "0011cc25eb432071",
        "e4da07ad200089ce",
        "e9974c507d2a8021",
    }
)


def is_documented(value: str) -> bool:
    return sha256(value.encode()).hexdigest()[:16] in _DOCUMENTED


def entropy(text: str) -> float:
    """Bits per character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def is_placeholder(body: str) -> bool:
    """Whether the variable part of a token is one that people write in its place."""
    body = body.strip("\"'`")
    return (
        not body
        or len(set(body)) <= max(3, min(5, len(body) // 4))
        or entropy(body) < MIN_ENTROPY
        or _longest_sequence(body.lower()) >= 7
        or (body + body).find(body, 1) <= len(body) // 2
        or bool(_WORDS.search(body) or _DELIMITED.search(body) or "xxxx" in body.lower() or "***" in body)
        or is_documented(body)
    )


def is_real_password(value: str) -> bool:
    """At least two kinds of characters, and not what people write in place of a password."""
    kinds = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^A-Za-z0-9]"))
    if len(value) < MIN_PASSWORD or _is_not_a_value(value):
        return False
    if value.isdigit():
        return len(set(value)) > 4 and _longest_sequence(value) < 5
    if " " in value or "\u3000" in value or not value.isascii():
        return False
    return kinds >= 2 and bool(re.search(r"\d|[^\w\s.\-/:]", value) or _is_random_case(value))


def is_real_token(value: str) -> bool:
    """Letters and digits mixed as in a random value."""
    if len(value) < MIN_PASSWORD or _is_not_a_value(value) or re.search(r"\s", value) or not value.isascii():
        return False
    letters, digits = re.search(r"[A-Za-z]", value), re.search(r"\d", value)
    if len(value) < MIN_TOKEN:
        return bool(letters and digits and re.search(r"[A-Z]", value) and re.search(r"[a-z]", value))
    if not (letters and digits):
        return _is_random_case(value)
    return not _is_words(value)


def is_random(value: str) -> bool:
    """A value that looks like a secret without any sign around it."""
    classes = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d"))
    long_enough = len(value) >= 10 if classes == 3 else len(value) >= 20 and bool(re.search(r"\d", value))
    return long_enough and not re.search(r"[:@\\(){}\[\]]|=[^=]", value) and is_real_token(value)


def is_real_url_password(value: str, user: str) -> bool:
    if value.lower() in {user.lower(), user.lower()[::-1]} or len(value) < 5:
        return False
    if _REFERENCE.fullmatch(value) or _SHAPE.fullmatch(value) or is_placeholder(value):
        return False
    return bool(re.search(r"\d|[^\w.\-]|[a-z][A-Z]", value)) and not value.isdigit()


def _is_not_a_value(value: str) -> bool:
    decoded = _decoded(value)
    return bool(
        _REFERENCE.fullmatch(value)
        or _CODE.fullmatch(value)
        or _SHAPE.fullmatch(value)
        or is_placeholder(value)
        or (decoded and is_placeholder(decoded))
    )


def _is_random_case(value: str) -> bool:
    """Letters that change case too often for words, or that have too few vowels between the changes."""
    pairs = [one.isupper() != other.isupper() for one, other in itertools.pairwise(value) if (one + other).isalpha()]
    vowels = sum(letter in "aeiouAEIOU" for letter in value)
    changes = sum(pairs)
    return len(value) >= MIN_TOKEN and (changes >= len(value) // 3 or (changes >= 2 and vowels < 0.3 * len(value)))


def _is_words(value: str) -> bool:
    """Names such as `prod-db-eu-1` and `app_v2_client`: lower-case words, with short numbers."""
    parts = re.split(r"[-_./:]", value)
    words = [part for part in parts if re.fullmatch(r"[a-z]{2,}\d{0,2}|v?\d{1,4}|[A-Z][a-z]+", part)]
    return len(parts) > 1 and len(words) == len(parts)


def _decoded(value: str) -> str:
    """The text behind Base64 of printable text, or nothing."""
    if len(value) % 4 or not re.fullmatch(r"[A-Za-z0-9+/]{8,}={0,2}", value):
        return ""
    try:
        text = base64.b64decode(value, validate=True).decode("ascii").strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if text.isprintable() else ""


def _longest_sequence(text: str) -> int:
    """The length of the longest run such as `12345` or `abcde`, upwards or downwards."""
    best = run = 1
    step = 0
    for one, other in itertools.pairwise(text):
        difference = ord(other) - ord(one)
        if (one, other) == ("9", "0"):
            difference = 1
        run = run + 1 if difference == step and abs(difference) == 1 else 2 if abs(difference) == 1 else 1
        step = difference
        best = max(best, run)
    return best
