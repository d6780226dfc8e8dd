"""`chie spaces`: who may read and write which notes, and which repositories belong to which space."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.knowledge.cli.options import AS_JSON
from chie.knowledge.cli.shared import open_service, print_json

if TYPE_CHECKING:
    from chie.knowledge.spaces.space import Access
    from chie.knowledge.spaces.spaces import Spaces

NAME = click.argument("name", metavar="SPACE")
LEVELS = ["none", "read", "write"]


@click.group()
def spaces() -> None:
    """Manage spaces: groups of notes that only some users may read or write.

    Notes are in the space `team` unless they name another one. Admins may read and write all spaces.
    """


@spaces.command("list")
@AS_JSON
def list_(*, as_json: bool) -> None:
    """List the spaces that you may read."""
    from dataclasses import asdict

    from chie.knowledge.spaces.spaces import Spaces

    with open_service() as service:
        manager = Spaces(service)
        found, repositories = manager.list(), manager.repositories()
    if as_json:
        return print_json({"spaces": [asdict(space) for space in found], "repositories": repositories})
    for space in found:
        title = f"  {space.title}" if space.title.casefold() != space.name else ""
        click.echo(
            f"{click.style(space.name, bold=True)}{title}  {space.notes} {'note' if space.notes == 1 else 'notes'}"
        )
        if space.everybody is not None:
            click.echo(f"  everybody: {space.everybody}")
        for user, access in (space.grants or {}).items():
            click.echo(f"  {user}: {access}")
        for repository in (name for name, bound in repositories.items() if bound == space.name):
            click.echo(f"  repository: {repository}")
    return None


@spaces.command()
@NAME
@click.option("--title", help="The name if absent.")
@click.option(
    "--everybody", type=click.Choice(LEVELS), default="none", show_default=True, help="What every user may do."
)
def create(name: str, title: str | None, everybody: "Access") -> None:
    """Make a space. Its name has lower-case letters, digits and `-`."""
    from chie.knowledge.spaces.spaces import Spaces

    with open_service() as service:
        Spaces(service).create(name, title=title, everybody=everybody)
    click.echo(f"Created {name}. `chie spaces grant {name} USER` lets somebody write in it.")


@spaces.command()
@NAME
@click.argument("user", required=False)
@click.option("--everybody", is_flag=True, help="Every user, instead of one.")
@click.option("--access", type=click.Choice(LEVELS), default="write", show_default=True)
def grant(name: str, user: str | None, access: "Access", *, everybody: bool) -> None:
    """Say what a user, or everybody, may do in a space."""
    from chie.knowledge.spaces.spaces import Spaces

    if (user is None) != everybody:
        raise click.UsageError("Name a user, or use --everybody.")
    with open_service() as service:
        _grant(Spaces(service), name, user, access)
    click.echo(f"{user or 'Everybody'} may {access if access != 'none' else 'not read'} {name}.")


@spaces.command()
@NAME
@click.argument("user", required=False)
@click.option("--everybody", is_flag=True, help="Every user, instead of one.")
def revoke(name: str, user: str | None, *, everybody: bool) -> None:
    """Take back what a user, or everybody, may do in a space; a running server knows at once."""
    from chie.knowledge.spaces.spaces import Spaces

    if (user is None) != everybody:
        raise click.UsageError("Name a user, or use --everybody.")
    with open_service() as service:
        _grant(Spaces(service), name, user, "none")
    click.echo(f"Revoked the access of {user or 'everybody'} to {name}")


@spaces.command()
@NAME
@click.option("--move-to", metavar="SPACE", help="The space that takes its notes, trash and earlier versions.")
def delete(name: str, move_to: str | None) -> None:
    """Delete a space in which nothing is, or whose notes, trash and earlier versions are moved."""
    from chie.knowledge.spaces.spaces import Spaces

    with open_service() as service:
        moved = Spaces(service).delete(name, move_to=move_to)
    click.echo(
        f"Deleted {name}" + (f"; {moved} {'note' if moved == 1 else 'notes'} moved to {move_to}" if moved else "")
    )


@spaces.command()
@click.argument("repository")
@NAME
def bind(repository: str, name: str) -> None:
    """Bind a repository to a space: hooks recall there, and findings are saved there.

    REPOSITORY is a URL, `host/owner/name`, or `.` for the one in this folder.
    """
    from chie.knowledge.spaces.spaces import Spaces

    with open_service() as service:
        bound = Spaces(service).bind(_repository(repository), name)
    click.echo(f"Bound {bound} to {name}")


@spaces.command()
@click.argument("repository")
def unbind(repository: str) -> None:
    """Bind a repository to no space."""
    from chie.knowledge.spaces.spaces import Spaces

    with open_service() as service:
        bound = Spaces(service).bind(_repository(repository), None)
    click.echo(f"Unbound {bound}")


def _grant(manager: "Spaces", name: str, user: str | None, access: "Access") -> None:
    if user is not None:
        return manager.grant(name, user, access)
    manager.change(name, everybody=access)
    return None


def _repository(given: str) -> str:
    """The remote of the folder, if a folder was given."""
    if not given.startswith("."):
        return given
    from chie.hook.repository import git_remote

    return git_remote(str(Path(given).resolve())) or str(Path(given).resolve())
