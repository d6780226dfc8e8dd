"""`chie backup` and `chie restore`, as they are typed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.errors import ValidationError

if TYPE_CHECKING:
    from chie.backup.archive import Manifest

FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
HOME_ONLY = click.option("--home-only", is_flag=True, help="Leave out a PostgreSQL database; pg_dump is for that.")
YES = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.command()
@FILE
@HOME_ONLY
@YES
def backup(file: Path, *, home_only: bool, yes: bool) -> None:
    """Write everything that Chie keeps into one FILE, while it runs.

    The file is read again before it counts. It holds secrets where your servers.json does: keep it safe.
    """
    from chie.backup.create import back_up
    from chie.backup.inventory import find_places

    places = find_places(home_only=home_only)
    file = file.absolute()
    if file.exists() and not yes:
        raise ValidationError(f"{file} is there already. Choose another name, or add --yes to replace it.")
    if not places.database.exists() and not any(places.files()):
        raise ValidationError(f"there is nothing in {places.home} yet. Set CHIE_HOME if your notes are elsewhere.")
    manifest = back_up(places, file)
    click.echo(f"{file}: {_described(manifest)}. Written, read again, and whole.")
    if others := _files(manifest):
        click.echo(f"It also has {', '.join(others)}, with the secrets in them. Only you can read it; keep it so.")
    for rest in places.elsewhere:
        click.echo(f"Not in it: {rest}.", err=True)


@click.command()
@FILE
@HOME_ONLY
@YES
def restore(file: Path, *, home_only: bool, yes: bool) -> None:
    """Bring back what a backup FILE holds, while Chie runs.

    FILE is looked through before anything is touched, and what is there now is kept beside it.
    """
    from chie.access.audit import record
    from chie.backup.inventory import find_places
    from chie.backup.restore import staged

    places = find_places(home_only=home_only)
    with staged(places, file.absolute()) as candidate:
        made = f"{candidate.manifest.created_at:%Y-%m-%d %H:%M} UTC by Chie {candidate.manifest.chie}"
        click.echo(f"{file} is whole: {_described(candidate.manifest)}, made {made}.")
        if other := candidate.left_out():
            click.echo(
                f"It has a second database, {other.parent.name}/{other.name}, which was not the one in use: it stays "
                "in the archive. Unzip it from there if you miss something."
            )
        _ask(places.home, yes=yes)
        restored = candidate.put_in_place()
        record("house.restored", file.name)
    click.echo(f"Restored to {places.home}. What was there before: {restored.safety}")
    for name in restored.stayed:
        click.echo(
            f"{name} stayed as it is, so that tokens which were revoked since the backup stay revoked. "
            f"For the users of the backup, move {places.home / name} away and restore again."
        )
    if not restored.live:
        click.echo("The old database was damaged, and a new file stands in its place: start every running Chie again.")


def _ask(home: Path, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValidationError("nobody can be asked here, so nothing was changed. Add --yes to restore.")
    click.confirm(f"Replace what is in {home}?", abort=True)


def _described(manifest: "Manifest") -> str:
    from chie.backup.database import in_words

    return in_words(manifest.counts) or "no database"


def _files(manifest: "Manifest") -> list[str]:
    names = [name.removeprefix("home/") for name in manifest.items if name.startswith("home/")]
    backups = [name for name in names if name.startswith("n8n-backups/")]
    rest = [name for name in names if name not in backups]
    return rest + ([f"backups of workflows ({len(backups)})"] if backups else [])
