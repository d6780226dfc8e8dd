"""`chie users`: tokens for people and programs."""

from pathlib import Path

import click

from chie.access.audit import record
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.settings import load

NAME = click.argument("name")


@click.group()
def users() -> None:
    """Manage users and their tokens. Chie requires a token as soon as there is a user."""


@users.command()
@NAME
@click.option("--admin", is_flag=True, help="May also change and delete notes that others wrote for the team.")
def add(name: str, *, admin: bool) -> None:
    """Add a user and print the token, once: only its hash is stored."""
    token = _file().add(name, admin=admin)
    record("user.added", name)
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
        click.echo(f"{entry.name}  {entry.created_at[:10]}{'  admin' if entry.admin else ''}")
    if not entries and file.exists:
        _warn_no_users()
    elif not entries:
        click.echo("No users. `chie users add NAME` adds one.", err=True)


@users.command()
@NAME
def revoke(name: str) -> None:
    """Revoke a user's token; a running server rejects it at once."""
    file = _file()
    file.revoke(name)
    record("user.revoked", name)
    click.echo(f"Revoked {name}")
    if not file.entries():
        _warn_no_users()


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
