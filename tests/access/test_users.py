"""`chie users`, and the file behind it."""

import hmac
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.app.processes import http_server

from chie.access.authentication import Authenticator
from chie.access.identity import User
from chie.access.settings import AccessSettings
from chie.access.users import UserFile, hash_of
from chie.cli import main
from chie.errors import AuthenticationError, ConfigurationError, ServiceError


def run(*arguments: str) -> "tuple[int, str, str]":
    result = CliRunner().invoke(main, ["users", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_a_token_is_shown_once_and_kept_nowhere(home: Path) -> None:
    code, out, told = run("add", "aki", "--admin")
    token = out.strip()
    assert (code, token[:5], len(token)) == (0, "chie_", 48)
    assert "not shown again" in told
    kept = (home / "users.json").read_text()
    assert token not in kept
    assert json.loads(kept)["users"][0]["token_sha256"] == hash_of(token)
    assert stat.S_IMODE((home / "users.json").stat().st_mode) == 0o600
    assert UserFile(home / "users.json").find(token) == User("aki", admin=True)
    assert run("list")[1].split()[0] == "aki"
    assert token not in str(run("list"))


def test_a_revoked_token_is_refused_at_once_by_who_has_read_the_file(home: Path) -> None:
    file = UserFile(home / "users.json")
    tokens = [file.add(name) for name in ("aki", "ben")]
    reader = UserFile(home / "users.json")
    assert reader.find(tokens[0]) == User("aki")
    assert run("revoke", "aki") == (0, "Revoked aki\n", "")
    assert reader.find(tokens[0]) is None
    assert reader.find(tokens[1]) == User("ben")
    locked = (
        "Nobody is left, so nobody gets in with a token. `chie users add NAME` adds somebody; "
        f"to ask nobody for a token any more, delete {home / 'users.json'}.\n"
    )
    assert run("revoke", "ben")[2] == locked
    assert run("list") == (0, "", locked)
    (home / "users.json").unlink()
    assert run("list")[2] == "No users. `chie users add NAME` adds one.\n"


@pytest.mark.parametrize("name", ["", "anonymous", "Chie", "a b", "../aki", "a" * 65, "aki\n", "-x"])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    code, _, told = run("add", "--", name)
    assert code == 1
    assert "this name cannot be used" in told


def test_a_name_is_given_once_and_only_a_known_one_is_revoked() -> None:
    run("add", "aki")
    assert "there is a user AKI already" in run("add", "AKI")[2]
    assert "there is no user ben" in run("revoke", "ben")[2]


async def test_once_the_house_asks_it_asks_for_good_even_if_the_file_goes(home: Path) -> None:
    authenticator = Authenticator(AccessSettings())
    assert not authenticator.required
    token = UserFile(home / "users.json").add("aki")
    assert authenticator.required
    assert await authenticator.user_of(token) == User("aki")
    (home / "users.json").unlink()
    assert authenticator.required
    with pytest.raises(AuthenticationError):
        await authenticator.user_of(token)


@pytest.mark.parametrize("content", ["", "[]", '{"users": [{"name": "aki"}]}', '{"users": {"a": 1}}', "\x00"])
async def test_a_broken_file_lets_nobody_in_and_says_so(home: Path, content: str) -> None:
    _write(home, content)
    authenticator = Authenticator(AccessSettings())
    assert authenticator.required
    with pytest.raises(ServiceError, match="nobody is let in") as refused:
        await authenticator.user_of("chie_x")
    assert str(home) not in refused.value.message, "where the file is, is no stranger's business"
    with pytest.raises(ConfigurationError, match="nobody is let in") as told:
        UserFile(home / "users.json").entries()
    assert str(home) in told.value.message


def _write(home: Path, content: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "users.json").write_text(content)


def test_several_who_write_at_once_lose_nobody(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: UserFile(home / "users.json").add(f"user{number}"), range(24)))
    assert len(UserFile(home / "users.json").entries()) == 24
    assert [path.name for path in home.glob("*.part")] == []


def test_tokens_are_compared_in_constant_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = UserFile(home / "users.json")
    tokens = [file.add(name) for name in ("aki", "ben", "chi")]
    compared: list[str] = []

    def spy(first: str, second: str) -> bool:
        compared.append(first)
        return first == second

    monkeypatch.setattr(hmac, "compare_digest", spy)
    for token in (tokens[0], "chie_nobody"):
        compared.clear()
        file.find(token)
        assert len(compared) == 3, "found or not, all are compared"


def test_the_house_listens_beyond_loopback_only_where_it_asks(home: Path) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    command = [str(Path(sys.executable).parent / "chie"), "mcp", "knowledge", "--http", "--host", everywhere]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=os.environ)
    assert refused.returncode == 1
    assert "chie users add NAME" in refused.stderr
    UserFile(home / "users.json").add("aki")
    with http_server("chie", "mcp", "knowledge", "--http", "--host", everywhere) as address:
        assert address.startswith(f"http://{everywhere}:")


def test_without_an_issuer_no_cryptography_is_loaded() -> None:
    script = (
        "import chie.app, sys; from chie.access.authentication import load_authenticator; load_authenticator(); "
        "print('jwt' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before = subprocess.run(
        [sys.executable, "-c", "import fastmcp, mcp, sys; print('jwt' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == before.stdout
