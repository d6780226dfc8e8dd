"""Whether anybody gets in, by the doctor's word."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.identity_provider import AUDIENCE
from tests.fakes.identity_provider import provider as serving

from chie.cli import main
from chie.doctor.cli import all_checks
from chie.doctor.finding import Finding, examine


def look() -> list[Finding]:
    return examine([check for check in all_checks(8080) if check.name == "users"]).findings


def users(*arguments: str) -> None:
    assert CliRunner().invoke(main, ["users", *arguments]).exit_code == 0


def test_a_house_that_asks_nobody_is_well() -> None:
    assert look() == [Finding("users", "off", "Nobody is asked who they are. For that: chie users add NAME")]


def test_users_are_counted() -> None:
    users("add", "aki")
    assert look() == [Finding("users", "ok", "with a token: 1.")]


def test_a_broken_list_is_ill_for_it_lets_nobody_in(home: Path) -> None:
    home.mkdir()
    path = home / "users.json"
    path.write_text("{")
    [found] = look()
    assert (found.state, found.fix) == ("problem", f'mv "{path}" "{path}.old" && chie users add NAME')
    assert str(path) in found.says


def test_a_list_without_anybody_is_ill() -> None:
    users("add", "aki")
    users("revoke", "aki")
    [found] = look()
    assert (found.state, found.fix) == ("problem", "chie users add NAME")


def test_a_provider_is_asked_for_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as provider:
        monkeypatch.setenv("CHIE_AUTH_ISSUER", provider.issuer)
        monkeypatch.setenv("CHIE_AUTH_AUDIENCE", AUDIENCE)
        states = {found.check: found.state for found in look()}
        assert states == {"users": "ok", "sign-in provider": "ok"}
        provider.ill = True
        ill = look()[1]
    assert (ill.state, ill.fix) == ("problem", 'curl -sS "$CHIE_AUTH_ISSUER/.well-known/openid-configuration"')
    assert look()[1].state == "problem", "and one that is gone"
    monkeypatch.setenv("CHIE_AUTH_JWKS_URL", f"{provider.issuer}/jwks")
    assert look()[1].fix == 'curl -sS "$CHIE_AUTH_JWKS_URL"'


def test_settings_that_do_not_go_together_are_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_AUTH_ISSUER", "https://accounts.example")
    [found] = look()
    assert found.state == "problem"
    assert "CHIE_AUTH_AUDIENCE" in found.says
