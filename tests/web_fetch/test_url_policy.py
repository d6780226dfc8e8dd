"""Which URLs a tool may open."""

import socket
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.errors import ChieError, ConfigurationError
from chie.settings import load
from chie.web_fetch.addresses import is_public, parse_address
from chie.web_fetch.settings import FetchSettings
from chie.web_fetch.url_policy import UrlPolicy, load_policy

PUBLIC = ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c")


def dns(**hosts: Sequence[str]) -> UrlPolicy:
    return policy((), **hosts)


def policy(allow: Sequence[str], **hosts: Sequence[str]) -> UrlPolicy:
    """Addresses stand for themselves; `a_example` stands for `a.example`."""
    names = {name.replace("_", "."): addresses for name, addresses in hosts.items()}

    async def resolve(host: str, port: int) -> Sequence[str]:
        assert port
        if host in names:
            return names[host]
        if host.strip(".").endswith("example"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        if host.strip(".").lower() == "localhost":
            return ["127.0.0.1"]
        return [host if ":" in host else socket.inet_ntoa(socket.inet_aton(host))]  # reads short forms too

    return UrlPolicy(allow, resolver=resolve)


async def code(given: UrlPolicy, url: str) -> str | None:
    try:
        await given.check(url)
    except ChieError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "0.1.2.3",  # noqa: S104
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
        "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
        "255.255.255.255", "192.88.99.1",
        "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "64:ff9b:1::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001::1", "100::1",
    ],
)  # fmt: skip
async def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_public(parse_address(address))
    assert await code(dns(page_example=[address]), "https://page.example/") == "web_fetch.address_refused"
    assert await code(dns(page_example=[*PUBLIC, address]), "https://page.example/") == "web_fetch.address_refused"


async def test_public_addresses_are_allowed_and_pinned() -> None:
    destination = await dns(page_example=PUBLIC).check("https://page.example/a?b=日本")
    assert destination.addresses == PUBLIC
    assert destination.url.host == "page.example"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/",
        "http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://localhost/",
        "http://LOCALHOST/", "http://localhost./", "http://127.0.0.1:8080/api/sessions", "https://localhost",
        " http://127.0.0.1/ ", "HTTP://127.0.0.1/", "http://１２７.0.0.1/", "http://127。0。0。1/",
    ],
)  # fmt: skip
async def test_spellings_of_this_machine_are_refused(url: str) -> None:
    assert await code(dns(), url) in ("web_fetch.address_refused", "web_fetch.url_invalid")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///etc/passwd", "web_fetch.scheme_not_allowed"),
        ("ftp://page.example/", "web_fetch.scheme_not_allowed"),
        ("gopher://127.0.0.1:6379/_x", "web_fetch.scheme_not_allowed"),
        ("data:text/html,x", "web_fetch.scheme_not_allowed"),
        ("page.example", "web_fetch.scheme_not_allowed"),
        ("", "web_fetch.scheme_not_allowed"),
        ("http://", "web_fetch.url_invalid"),
        ("http:///x", "web_fetch.url_invalid"),
        ("http://[::1", "web_fetch.url_invalid"),
        ("http://page.example:99999/", "web_fetch.url_invalid"),
        ("http://page.example\n.evil/", "web_fetch.url_invalid"),
        ("http://user:password@page.example/", "web_fetch.password_in_url"),
        ("http://page.example@127.0.0.1/", "web_fetch.password_in_url"),
        ("http://nowhere.example/", "web_fetch.host_not_found"),
    ],
)
async def test_other_urls_are_refused(url: str, expected: str) -> None:
    assert await code(dns(page_example=PUBLIC), url) == expected


@pytest.mark.parametrize(
    ("entry", "url", "allowed"),
    [
        ("10.1.0.0/16", "http://10.1.2.3/", True),
        ("10.1.0.0/16", "http://10.2.2.3/", False),
        ("127.0.0.1", "http://127.0.0.1:1234/", True),
        ("127.0.0.1:3000", "http://127.0.0.1:3000/", True),
        ("127.0.0.1:3000", "http://127.0.0.1:8080/", False),
        ("127.0.0.1:80", "http://127.0.0.1/", True),
        ("[::1]:3000", "http://[::1]:3000/", True),
        ("::1", "http://[::1]/", True),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/", True),
        ("localhost", "http://LOCALHOST./", True),
        ("localhost", "http://127.0.0.1/", False),
        ("wiki.example", "http://wiki.example/", True),
        ("*.corp.example", "http://a.corp.example/", True),
        ("*.corp.example", "http://corp.example.evil.example/", False),
        ("*.corp.example:443", "http://a.corp.example/", False),
    ],
)
async def test_operator_allows_hosts_and_networks(entry: str, url: str, allowed: bool) -> None:
    inside = {"wiki_example": ["10.9.9.9"], "a_corp_example": ["10.9.9.9"], "corp_example_evil_example": ["10.9.9.9"]}
    assert (await code(policy([entry], **inside), url) is None) is allowed


@pytest.mark.parametrize("entry", ["*", "*.*", "http://x", "a b", "10.0.0.0/99", "x/y"])
def test_invalid_entry_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    monkeypatch.setenv("CHIE_FETCH_ALLOW", f"localhost,{entry}")
    with pytest.raises(ConfigurationError, match="CHIE_FETCH_ALLOW"):
        load(FetchSettings)


async def test_setting_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_FETCH_ALLOW", "localhost:1, 127.0.0.0/8")
    assert await code(load_policy(), "http://127.0.0.1/") is None
    monkeypatch.delenv("CHIE_FETCH_ALLOW")
    assert await code(load_policy(), "http://127.0.0.1/") == "web_fetch.address_refused"


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://127.0.0.1", "http://[::1]"]))
async def test_no_text_is_allowed_or_raises_another_error(text: str, prefix: str) -> None:
    assert await code(UrlPolicy(resolver=lambda *_: _this_machine()), prefix + text) is not None


async def _this_machine() -> Sequence[str]:
    return ["127.0.0.1"]
