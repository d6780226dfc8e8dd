"""JWTs of a provider on loopback: which are accepted, and which are not."""

import asyncio
import base64
import gc
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.fakes.identity_provider import AUDIENCE, Provider, provider

from chie.access import oidc
from chie.access.authentication import Authenticator
from chie.access.identity import User
from chie.access.settings import AccessSettings
from chie.errors import AuthenticationError, ConfigurationError, ServiceError


@pytest.fixture(scope="module")
def shared() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def issuer(shared: Provider) -> Provider:
    for kid in list(shared.keys):
        if kid != "one":
            del shared.keys[kid]
    shared.failing, shared.asked = False, 0
    return shared


def authenticator_for(issuer: Provider, **settings: Any) -> Authenticator:
    made = {"auth_issuer": issuer.issuer, "auth_audience": AUDIENCE} | settings
    return Authenticator(AccessSettings(**made))


def _segment(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def unsigned(issuer: Provider, algorithm: str) -> str:
    return f"{_segment({'alg': algorithm, 'typ': 'JWT', 'kid': 'one'})}.{_segment(issuer.claims())}."


def signed_with_the_public_key(issuer: Provider) -> str:
    head = f"{_segment({'alg': 'HS256', 'typ': 'JWT', 'kid': 'one'})}.{_segment(issuer.claims())}"
    digest = hmac.new(issuer.public_pem(), head.encode(), hashlib.sha256).digest()
    return f"{head}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


async def test_valid_token_gives_the_user(issuer: Provider) -> None:
    authenticator = authenticator_for(issuer)
    assert authenticator.required
    assert await authenticator.user_of(issuer.token()) == User("aki")
    assert await authenticator.user_of(issuer.token(sub="日向")) == User("日向")
    assert issuer.asked == 1, "the keys are fetched once"


async def test_elliptic_keys_are_accepted(issuer: Provider) -> None:
    issuer.add_key("curve", kind="EC")
    assert await authenticator_for(issuer).user_of(issuer.token("curve")) == User("aki")


async def test_key_url_can_be_set(issuer: Provider) -> None:
    authenticator = authenticator_for(issuer, auth_jwks_url=f"{issuer.issuer}/keys")
    assert await authenticator.user_of(issuer.token()) == User("aki")


INVALID: dict[str, Callable[[Provider], str]] = {
    "no signature": lambda issuer: unsigned(issuer, "none"),
    "no signature, in capitals": lambda issuer: unsigned(issuer, "NONE"),
    "the public key as a shared secret": signed_with_the_public_key,
    "another audience": lambda issuer: issuer.token(aud="somebody-else"),
    "no audience": lambda issuer: issuer.token(aud=None),
    "another issuer": lambda issuer: issuer.token(iss="http://127.0.0.1:1"),
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - 3600),
    "never expires": lambda issuer: issuer.token(exp=None),
    "not yet": lambda issuer: issuer.token(nbf=int(time.time()) + 3600),
    "an unknown key": lambda issuer: issuer.token(headers={"kid": "nobody"}),
    "a key of its own": lambda issuer: issuer.token(headers={"kid": "x", "jwk": issuer.jwks()["keys"][-1]}),
    "changed afterwards": lambda issuer: _changed(issuer.token()),
    "no user": lambda issuer: issuer.token(sub=None),
    "a user that is not a text": lambda issuer: issuer.token(sub=""),
    "the reserved name": lambda issuer: issuer.token(sub="anonymous"),
    "not a token": lambda _: "a.b.c",
    "endless": lambda _: "a" * 20_000,
}


EXPECTED_CODES = {"access.token_invalid", "access.token_expired", "access.token_unknown", "access.token_without_user"}


def _changed(token: str) -> str:
    head, claims, signature = token.split(".")
    decoded = json.loads(base64.urlsafe_b64decode(claims + "=="))
    return f"{head}.{_segment(decoded | {'sub': 'root'})}.{signature}"


@pytest.mark.parametrize("kind", INVALID)
async def test_invalid_token_is_rejected(issuer: Provider, kind: str) -> None:
    token = INVALID[kind](issuer)
    with pytest.raises(AuthenticationError) as rejected:
        await authenticator_for(issuer).user_of(token)
    assert token not in rejected.value.message
    assert rejected.value.code in EXPECTED_CODES


async def test_clock_skew_is_tolerated(issuer: Provider) -> None:
    late = issuer.token(exp=int(time.time()) - 10)
    assert await authenticator_for(issuer).user_of(late) == User("aki")
    with pytest.raises(AuthenticationError, match="has expired"):
        await authenticator_for(issuer, auth_leeway=1).user_of(late)


async def test_new_key_is_fetched_but_not_for_every_unknown_id(
    issuer: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(oidc, "monotonic", lambda: now)
    authenticator = authenticator_for(issuer)
    await authenticator.user_of(issuer.token())
    for _ in range(5):
        with pytest.raises(AuthenticationError):
            await authenticator.user_of(issuer.token(headers={"kid": "nobody"}))
    assert issuer.asked == 1
    issuer.add_key("two")
    now += oidc.FETCH_INTERVAL_SECONDS + 1
    assert await authenticator.user_of(issuer.token("two")) == User("aki")
    assert issuer.asked == 2


async def test_known_keys_are_used_for_a_day_without_the_provider(
    issuer: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(oidc, "monotonic", lambda: now)
    authenticator = authenticator_for(issuer)
    await authenticator.user_of(issuer.token())
    issuer.failing = True
    now += oidc.FRESH_SECONDS + 1
    assert await authenticator.user_of(issuer.token()) == User("aki")
    now += oidc.STALE_SECONDS
    with pytest.raises(ServiceError, match="keys cannot be fetched"):
        await authenticator.user_of(issuer.token())


async def test_known_key_does_not_wait_for_a_hanging_provider(
    issuer: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(oidc, "monotonic", lambda: now)
    authenticator = authenticator_for(issuer)
    await authenticator.user_of(issuer.token())
    now += oidc.FRESH_SECONDS + 1
    issuer.add_key("two")
    issuer.awake.clear()
    try:
        async with asyncio.timeout(oidc.FETCH_TIMEOUT_SECONDS / 2):
            known = await asyncio.gather(*(authenticator.user_of(issuer.token()) for _ in range(20)))
    finally:
        issuer.answered.clear()
        issuer.awake.set()
    assert known == [User("aki")] * 20
    assert await asyncio.to_thread(issuer.answered.wait, 10), "the keys are renewed in the background"
    assert await authenticator.user_of(issuer.token("two")) == User("aki")
    assert issuer.asked == 2


def test_shutdown_during_renewal_logs_nothing(
    issuer: Provider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 1000.0
    monkeypatch.setattr(oidc, "monotonic", lambda: now)
    authenticator = authenticator_for(issuer)

    async def app() -> None:
        nonlocal now
        await authenticator.user_of(issuer.token())
        now += oidc.FRESH_SECONDS + 1
        issuer.awake.clear()
        await authenticator.user_of(issuer.token())
        await asyncio.sleep(0)  # so that the renewal begins

    try:
        asyncio.run(app())
    finally:
        issuer.awake.set()
    gc.collect()
    assert caplog.text == ""


async def test_unexpected_renewal_error_is_logged(
    issuer: Provider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 1000.0
    monkeypatch.setattr(oidc, "monotonic", lambda: now)
    keys = oidc.KeySet(issuer.issuer, None)
    assert await keys.key("one")
    now += oidc.FRESH_SECONDS + 1
    monkeypatch.setattr(keys, "_fetch", _unexpected)
    assert await keys.key("one"), "it is known"
    for _ in range(10):  # iterations of the loop, of which the renewal needs two
        await asyncio.sleep(0)
    assert "a bug of ours" in caplog.text


async def _unexpected() -> None:
    raise RuntimeError("a bug of ours")


async def test_claims_of_user_and_admin_can_be_set(issuer: Provider) -> None:
    authenticator = authenticator_for(
        issuer, auth_user_claim="email", auth_admin_claim="realm_access.roles", auth_admin_value="boss"
    )
    admin = issuer.token(email="Aki@Example.com", realm_access={"roles": ["user", "boss"]})
    assert await authenticator.user_of(admin) == User("aki@example.com", admin=True)
    assert await authenticator.user_of(
        issuer.token(email="ben@example.com", realm_access={"roles": ["bossy"]})
    ) == User("ben@example.com")
    with pytest.raises(AuthenticationError) as unverified:
        await authenticator.user_of(issuer.token(email="aki@example.com", email_verified=False))
    assert unverified.value.code == "access.email_not_verified"
    with pytest.raises(AuthenticationError, match="The token has no `email` claim") as missing:
        await authenticator.user_of(issuer.token())
    assert missing.value.code == "access.token_without_user"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"auth_issuer": "https://id.example"}, "access.audience_missing"),
        ({"auth_audience": "chie"}, "access.issuer_missing"),
        ({"auth_issuer": "http://id.example", "auth_audience": "chie"}, "access.url_not_https"),
        (
            {"auth_issuer": "https://id.example", "auth_audience": "chie", "auth_jwks_url": "file:///keys"},
            "access.url_not_https",
        ),
    ],
)
def test_insecure_settings_are_rejected(settings: dict[str, str], code: str) -> None:
    with pytest.raises(ConfigurationError) as rejected:
        Authenticator(AccessSettings(**settings))  # type: ignore[arg-type]
    assert rejected.value.code == code
