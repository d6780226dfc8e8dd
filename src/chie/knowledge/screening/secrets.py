"""Finds secrets in text: private keys, tokens of services, passwords. Offline, in linear time."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chie.knowledge.screening.assignments import assigned
from chie.knowledge.screening.placeholders import (
    is_documented,
    is_placeholder,
    is_real_password,
    is_real_token,
    is_real_url_password,
)
from chie.knowledge.screening.token_formats import FORMATS, compiled

SecretKind = Literal["private_key", "service_token", "jwt", "url_password", "password", "token"]
MASK = "********"
MIN_KEY_BODY = 40


@dataclass(frozen=True, slots=True)
class Secret:
    """`service` is the issuer of a `service_token`. `line` counts from 1."""

    kind: SecretKind
    line: int
    start: int
    end: int
    service: str = ""


@dataclass(frozen=True, slots=True)
class _Span:
    kind: SecretKind
    start: int
    end: int
    service: str = ""


_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----")
_PEM_LENGTH = 8_000
_PEM_NOT_BODY = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]*|\\r|\\n|#[^\n]*")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d[\s\S]{1,2000}?Private-Lines: \d+\s+([A-Za-z0-9+/=\s]{40,8000})")
_PEM_BASE64 = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{60,12000}")
_JWK = re.compile(r"""["']d["']\s{0,4}:\s{0,4}["']([A-Za-z0-9_\-]{40,700})["']""")
_JWT = re.compile(
    r"(?<![A-Za-z0-9_\-.])(eyJ[A-Za-z0-9_\-]{8,2000})\.(eyJ[A-Za-z0-9_\-]{8,8000})\.([A-Za-z0-9_\-]{16,2000})"
)
_USER_INFO = re.compile(r"""://([^\s/@:"'`<>]{0,100}):([^\s/"'`<>]{1,200})@(?=[\w\[])""")
_SAS = re.compile(r"[?&]sig=([A-Za-z0-9%+/=_\-]{30,120})")
_FUNCTION_KEY = re.compile(r"[?&]code=([A-Za-z0-9%+/_\-]{40,100}={0,2})")
_HEADER = re.compile(
    r"""authorization["'`]?\s{0,4}[:=,]\s{0,4}\\?["'`]?(?:([a-z][a-z\-]{2,16})\s{1,4})?([A-Za-z0-9._~+/=:\-]{12,3000})""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b[Bb]earer\s{1,2}([A-Za-z0-9._~+/=\-]{20,3000})")
_USER_OPTION = re.compile(r"""(?:\s-u|--user|--creds|--basic-auth)[ =]{0,2}["']?([^\s:"']{1,64}):([^\s"']{4,200})""")
_SHORT_OPTION = re.compile(
    r"""\b(?:mysql\w*|mariadb\w*|sshpass|docker[ ]login|redis-cli|htpasswd|ldap\w+|sqlcmd|bcp|smbclient|7z|zip|unzip)\b
    [^\n]{0,160}?\s-[paPwb][ ]?["']?([^\s"'\-][^\s"']{5,100})""",
    re.VERBOSE,
)
_PGPASS = re.compile(r"^[\w.*\-]{1,100}:(?:\d{2,5}|\*):[\w*\-]{1,64}:[\w.\-]{1,64}:(\S{6,100})$", re.MULTILINE)


def find_secrets(text: str) -> list[Secret]:
    """In the order of the text. Of overlapping findings the most specific is reported."""
    spans = list[_Span]()
    by_position = sorted(enumerate(_spans(text)), key=lambda pair: (pair[1].start, pair[0]))
    rank = -1
    for number, span in by_position:
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
            rank = number
        elif number < rank:
            spans[-1] = span
            rank = number
    return list(_numbered(text, spans))


def mask(text: str, *, keep: str = "") -> str:
    """The text with every secret replaced that does not occur in `keep`."""
    parts, at = list[str](), 0
    for secret in find_secrets(text):
        if text[secret.start : secret.end] not in keep:
            parts += [text[at : secret.start], MASK]
            at = secret.end
    return "".join([*parts, text[at:]])


def _numbered(text: str, spans: list[_Span]) -> Iterator[Secret]:
    line, at = 1, 0
    for span in spans:
        line += text.count("\n", at, span.start)
        at = span.start
        yield Secret(span.kind, line, span.start, span.end, span.service)


def _spans(text: str) -> Iterator[_Span]:
    yield from _private_keys(text)
    yield from _service_tokens(text)
    if "eyJ" in text:
        yield from _jwts(text)
    if "://" in text:
        yield from _url_passwords(text)
    yield from _headers(text)
    yield from _options(text)
    for found in assigned(text):
        yield _Span(found.secrecy, found.start, found.end)


def _private_keys(text: str) -> Iterator[_Span]:
    if "-----BEGIN" in text:
        yield from _pem_blocks(text)
    if "PuTTY-User-Key-File" in text:
        yield from (_Span("private_key", *found.span(1)) for found in _PUTTY.finditer(text))
    if "LS0tLS1CRUdJTi" in text:
        for found in _PEM_BASE64.finditer(text):
            if b"PRIVATE KEY" in base64.b64decode(found.group()[:80]):
                yield _Span("private_key", *found.span())
    if "kty" in text:
        for found in _JWK.finditer(text):
            if not is_placeholder(found.group(1)):
                yield _Span("private_key", *found.span(1))


def _pem_blocks(text: str) -> Iterator[_Span]:
    """Up to the end line, or to whatever comes next if that was cut off."""
    for begin in _PEM.finditer(text):
        start, limit = begin.end(), min(len(text), begin.end() + _PEM_LENGTH)
        ends = [end for mark in ("-----", "\n\n\n") if (end := text.find(mark, start, limit)) >= 0]
        stop = min(ends, default=limit)
        if _is_key_body(text[start:stop]):
            yield _Span("private_key", start, stop)


def _is_key_body(body: str) -> bool:
    body = _PEM_NOT_BODY.sub("", body)
    longest = max(re.findall(r"[A-Za-z0-9+/=]{16,}", body), key=len, default="")
    whole = "".join(re.findall(r"[A-Za-z0-9+/=]", body))
    shortened = re.search(r"\.{3}|…|\*{3}|<[^<>]++>", body)
    return (
        len(whole) >= MIN_KEY_BODY
        and len(longest) >= 16
        and not (shortened and len(whole) < 200)
        and not is_placeholder(longest)
    )


def _service_tokens(text: str) -> Iterator[_Span]:
    for one in FORMATS:
        if not any(mark in text for mark in one.marks):
            continue
        for found in compiled(one.pattern).finditer(text):
            token = found.group()
            mark = next((mark for mark in one.marks if token.startswith(mark)), "")
            if not _is_placeholder_token(token, mark):
                yield _Span("service_token", *found.span(), one.service)


def _is_placeholder_token(token: str, mark: str) -> bool:
    body = token[len(mark) :]
    words = re.split(r"[-_./]", body)
    spelled = all(re.fullmatch(r"[a-z]+|[A-Z]+|\d{0,3}", word) for word in words)
    return is_placeholder(body) or is_documented(token) or (spelled and len(words) > 1)


def _jwts(text: str) -> Iterator[_Span]:
    for found in _JWT.finditer(text):
        header, payload, signature = found.groups()
        head, body = _json(header), _json(payload)
        public = body.get("role") == "anon" or body.get("name") == "John Doe" or body.get("sub") == "1234567890"
        if "alg" in head and not public and not is_placeholder(signature):
            yield _Span("jwt", *found.span())


def _json(part: str) -> dict[str, object]:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError, binascii.Error):
        return {"alg": None} if len(part) > 16 else {}
    return found if isinstance(found, dict) else {}


def _url_passwords(text: str) -> Iterator[_Span]:
    for found in _USER_INFO.finditer(text):
        user, password = found.groups()
        if is_real_url_password(password, user):
            yield _Span("url_password", *found.span(2))
    if ".azurewebsites.net" in text:
        for found in _FUNCTION_KEY.finditer(text):
            if is_real_token(found.group(1)):
                yield _Span("service_token", *found.span(1), "Azure")
    if "sig=" in text:
        for found in _SAS.finditer(text):
            if not is_placeholder(found.group(1)):
                yield _Span("service_token", *found.span(1), "Azure")


def _headers(text: str) -> Iterator[_Span]:
    for found in _HEADER.finditer(text):
        scheme, value = (found.group(1) or "").lower(), found.group(2)
        if _is_real_basic(value) if scheme == "basic" else is_real_token(value):
            yield _Span("token", *found.span(2))
    for found in _BEARER.finditer(text):
        if is_real_token(found.group(1)):
            yield _Span("token", *found.span(1))


def _is_real_basic(value: str) -> bool:
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4)).decode().partition(":")
    except (ValueError, binascii.Error):
        return is_real_token(value)
    return bool(colon) and not is_documented(value) and is_real_url_password(password, user)


def _options(text: str) -> Iterator[_Span]:
    for found in _USER_OPTION.finditer(text):
        if is_real_password(found.group(2)):
            yield _Span("password", *found.span(2))
    for pattern in (_SHORT_OPTION, _PGPASS):
        for found in pattern.finditer(text):
            if is_real_password(found.group(1)):
                yield _Span("password", *found.span(1))
