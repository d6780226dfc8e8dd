"""`chie users`: tokens for people and programs."""

from pathlib import Path

import click

from chie.access.audit import record
from chie.access.settings import AccessSettings
from chie.access.users import Entry, UserFile
from chie.settings import load

NAME = click.argument("name")
SPACES = click.option(
    "--space",
    "spaces",
    multiple=True,
    metavar="SPACE[:read]",
    help="Limit the token to the notes of this space, or to reading them; may be repeated.",
)


@click.group()
def users() -> None:
    """Manage users and their tokens. Chie requires a token as soon as there is a user."""


@users.command()
@NAME
@click.option("--admin", is_flag=True, help="May also change and delete notes that others wrote for the team.")
@SPACES
def add(name: str, spaces: tuple[str, ...], *, admin: bool) -> None:
    """Add a user and print the token, once: only its hash is stored."""
    if admin and spaces:
        raise click.UsageError("The token of an admin cannot be limited: add a user without --admin.")
    token = _file().add(name, admin=admin, spaces=_limits(spaces))
    record("user.added", name)
    _show(name, token)


@users.command()
@NAME
@SPACES
def token(name: str, spaces: tuple[str, ...]) -> None:
    """Print another token of a user, for an assistant or a program: it can be limited to some spaces."""
    new = _file().add_token(name, spaces=_limits(spaces))
    record("user.token_added", name)
    _show(name, new)


def _limits(spaces: tuple[str, ...]) -> dict[str, str] | None:
    """`ops` is limited to the space and may write in it, `ops:read` may only read."""
    found = {}
    for given in spaces:
        name, _, access = given.partition(":")
        if not name or access not in ("", "read", "write"):
            raise click.UsageError(f"{given} is not a space, or a space with :read.")
        found[name] = access or "write"
    return found or None


def _show(name: str, token: str) -> None:
    click.echo(token)
    click.echo(
        f"This is the token of {name}. It is not shown again. Use it to sign in on the page; assistants send it as\n"
        "  Authorization: Bearer TOKEN",
        err=True,
    )


@users.command("list")
def list_() -> None:
    """List the users."""
    file = _file()
    entries = file.entries()
    for entry in entries:
        click.echo(f"{entry.name}  {entry.created_at[:10]}{'  admin' if entry.admin else ''}{_limit_of(entry)}")
    if not entries and file.exists:
        _warn_no_users()
    elif not entries:
        click.echo("No users. `chie users add NAME` adds one.", err=True)


@users.command()
@NAME
def revoke(name: str) -> None:
    """Revoke all tokens of a user; a running server rejects it at once."""
    file = _file()
    file.revoke(name)
    record("user.revoked", name)
    click.echo(f"Revoked {name}")
    if not file.entries():
        _warn_no_users()


def _limit_of(entry: Entry) -> str:
    if entry.spaces is None:
        return ""
    names = (name if access == "write" else f"{name}:{access}" for name, access in entry.spaces.items())
    return f"  only {', '.join(names)}"


def _warn_no_users() -> None:
    click.echo(
        f"No users are left, so no token of `chie users` is accepted. Add one with `chie users add NAME`; to stop "
        f"requiring tokens, delete {_path()}.",
        err=True,
    )


def _file() -> UserFile:
    return UserFile(_path())


def _path() -> Path:
    return load(AccessSettings).users_path
