"""`chie users`: who may come in."""

from pathlib import Path

import click

from chie.access.audit import record
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.settings import load

NAME = click.argument("name")


@click.group()
def users() -> None:
    """Give people and programs a token of their own; the house asks for one as soon as there is a user."""


@users.command()
@NAME
@click.option("--admin", is_flag=True, help="May also change and delete what others wrote for the team.")
def add(name: str, *, admin: bool) -> None:
    """Add a user and print the token, once: only a hash of it is kept."""
    token = _file().add(name, admin=admin)
    record("user.added", name)
    click.echo(token)
    click.echo(
        f"This is the token of {name}; it is not shown again. On the page, sign in with it. An assistant sends it as\n"
        f"  Authorization: Bearer TOKEN",
        err=True,
    )


@users.command("list")
def list_() -> None:
    """Who may come in."""
    file = _file()
    entries = file.entries()
    for entry in entries:
        click.echo(f"{entry.name}  {entry.created_at[:10]}{'  admin' if entry.admin else ''}")
    if not entries and file.exists:
        _tell_locked()
    elif not entries:
        click.echo("No users. `chie users add NAME` adds one.", err=True)


@users.command()
@NAME
def revoke(name: str) -> None:
    """Take a user's token back; a running house refuses it from now on."""
    file = _file()
    file.revoke(name)
    record("user.revoked", name)
    click.echo(f"Revoked {name}")
    if not file.entries():
        _tell_locked()


def _tell_locked() -> None:
    click.echo(
        f"Nobody is left, so nobody gets in with a token. `chie users add NAME` adds somebody; to ask nobody for a "
        f"token any more, delete {_path()}.",
        err=True,
    )


def _file() -> UserFile:
    return UserFile(_path())


def _path() -> Path:
    return load(AccessSettings).users_path
