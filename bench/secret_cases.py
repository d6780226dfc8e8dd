"""The labelled set of secrets and look-alikes. Its files hold templates, not secrets: `⟦b62:36⟧` becomes 36 random
characters here, so that no scanner takes this repository for a leak."""

import base64
import json
import random
import re
import string
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

SETS = Path(__file__).parent / "sets" / "secrets"
ROUNDS = 3  # different random values per template

ALPHABETS = {
    "b62": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "lower": string.ascii_lowercase + string.digits,
    "UP": string.ascii_uppercase + "234567",
    "b32": string.ascii_uppercase + "234567",
    "alpha": string.ascii_letters,
    "dig": string.digits,
}
SYMBOLS = "!#$%&*+-=?@^_~"
URL_SYMBOLS = "!*-_.~"  # that need no escape in URLs, shells and tables
WORDS = ("Sakura", "Fuji", "Tokyo", "Winter", "Orange", "Kaizen", "Harbor", "Falcon", "Neko", "Maple")
FIELD = re.compile(r"⟦([a-zA-Z0-9]+)(?::([^⟧]*))?⟧")


@dataclass(frozen=True)
class Case:
    text: str
    kind: str
    secret: bool


def cases(name: str) -> Iterator[Case]:
    """The cases of `dev` or `test`, always the same."""
    pick = random.Random(name)
    rows = [json.loads(line) for line in (SETS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        for _ in range(ROUNDS if "⟦" in row["text"] else 1):
            yield Case(filled(row["text"], pick), row["kind"], row["secret"])


def filled(template: str, pick: random.Random) -> str:
    return FIELD.sub(lambda field: _value(field.group(1), field.group(2) or "", pick), template)


def _value(name: str, argument: str, pick: random.Random) -> str:
    if name in ALPHABETS:
        return "".join(pick.choices(ALPHABETS[name], k=int(argument)))
    return SPECIAL[name](argument, pick)


def _password(symbols: str) -> Callable[[str, random.Random], str]:
    """Letters, digits and symbols, at least one of each; the first is a letter."""

    def password(length: str, pick: random.Random) -> str:
        sure = [pick.choice(string.digits), pick.choice(symbols), pick.choice(string.ascii_uppercase)]
        rest = pick.choices(string.ascii_letters + string.digits, k=int(length) - 4)
        mixed = pick.sample(sure + rest, k=int(length) - 1)
        return pick.choice(string.ascii_lowercase) + "".join(mixed)

    return password


def _human_password(_: str, pick: random.Random) -> str:
    return f"{pick.choice(WORDS)}{pick.randint(1980, 2029)}{pick.choice('!#*-_')}{pick.choice('abcdefgh')}"


def _uuid(_: str, pick: random.Random) -> str:
    digits = f"{pick.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))


def _base64(count: int, pick: random.Random) -> str:
    return base64.b64encode(pick.randbytes(count)).decode()


def _pem(label: str, pick: random.Random, *, size: int = 600) -> str:
    body = "\n".join(textwrap.wrap(_base64(size, pick), 64))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def _pem_in_base64(label: str, pick: random.Random) -> str:
    return base64.b64encode(_pem(label or "RSA PRIVATE KEY", pick).encode()).decode()


def _jwt(_: str, pick: random.Random) -> str:
    expires = 1790000000 + pick.randint(0, 9999999)
    return _signed(pick, sub=_uuid("", pick), iss="https://login.acme.dev", exp=expires)


def _signed(pick: random.Random, **payload: str | int) -> str:
    parts = ({"alg": pick.choice(["HS256", "RS256"]), "typ": "JWT"}, payload)
    return ".".join([*(_url64(json.dumps(part).encode()) for part in parts), _url64(pick.randbytes(32))])


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


SPECIAL: dict[str, Callable[[str, random.Random], str]] = {
    "uuid": _uuid,
    "pw": _password(SYMBOLS),
    "pw62": _password(URL_SYMBOLS),
    "humanpw": _human_password,
    "pem": _pem,
    "pemjson": lambda label, pick: _pem(label or "PRIVATE KEY", pick).replace("\n", "\\n"),
    "b64pem": _pem_in_base64,
    "jwt": _jwt,
    "jwtio": lambda _, pick: _signed(pick, sub="1234567890", name="John Doe", iat=1516239022),
    "anon": lambda _, pick: _signed(pick, iss="supabase", ref="acme", role="anon", exp=1990000000),
    "basic": lambda _, pick: base64.b64encode(f"ci:{_value('b62', '18', pick)}".encode()).decode(),
    "rev": lambda text, _: text[::-1],
}
