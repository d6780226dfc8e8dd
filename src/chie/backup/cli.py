"""The `chie backup` and `chie restore` commands."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.errors import ValidationError

if TYPE_CHECKING:
    from chie.backup.archive import Manifest
    from chie.backup.restore import Restored, UnpackedBackup

FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
HOME_ONLY = click.option("--home-only", is_flag=True, help="Leave out a PostgreSQL database; use pg_dump for that.")
YES = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.command()
@FILE
@HOME_ONLY
@YES
def backup(file: Path, *, home_only: bool, yes: bool) -> None:
    """Write everything that Chie stores into one FILE, without stopping Chie.

    The file is verified after writing. It contains secrets if your servers.json does: keep it safe.
    """
    from chie.backup.create import back_up
    from chie.backup.inventory import load_inventory

    inventory = load_inventory(home_only=home_only)
    file = file.absolute()
    if file.exists() and not yes:
        raise ValidationError("backup.file_exists", path=str(file))
    if not inventory.database.exists() and not any(inventory.files()):
        raise ValidationError("backup.nothing_to_back_up", home=str(inventory.home))
    manifest = back_up(inventory, file)
    click.echo(f"{file}: {_summary(manifest)}. Written and verified.")
    if others := _files(manifest):
        click.echo(f"It also contains {', '.join(others)}, with any secrets in them. Only you can read the file.")
    for message in inventory.excluded:
        click.echo(str(message), err=True)


@click.command()
@FILE
@HOME_ONLY
@YES
def restore(file: Path, *, home_only: bool, yes: bool) -> None:
    """Restore a backup FILE, without stopping Chie.

    FILE is verified before anything is changed, and the current state is backed up first.
    """
    from chie.access.audit import record
    from chie.backup.inventory import load_inventory
    from chie.backup.restore import unpacked

    inventory = load_inventory(home_only=home_only)
    with unpacked(inventory, file.absolute()) as backup:
        _describe(file, backup)
        _confirm(inventory.home, yes=yes)
        restored = backup.install()
        record("app.restored", file.name)
    _report(inventory.home, restored)


def _describe(file: Path, backup: "UnpackedBackup") -> None:
    created = f"{backup.manifest.created_at:%Y-%m-%d %H:%M} UTC by Chie {backup.manifest.chie}"
    click.echo(f"{file} is intact: {_summary(backup.manifest)}, created {created}.")
    if other := backup.unused_database():
        click.echo(
            f"It contains a second database, {other.parent.name}/{other.name}, which was not in use and is not "
            "restored. Unzip it from the archive if you need it."
        )


def _report(home: Path, restored: "Restored") -> None:
    click.echo(f"Restored to {home}. Backup of the previous state: {restored.previous}")
    for name in restored.unchanged:
        click.echo(
            f"{name} was not restored, so that tokens revoked since the backup stay revoked. "
            f"To restore it, move {home / name} away and restore again."
        )
    if restored.restart_needed:
        click.echo("The old database was damaged and has been replaced by a new file: restart every running Chie.")


def _confirm(home: Path, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValidationError("backup.confirmation_required")
    click.confirm(f"Replace the data in {home}?", abort=True)


def _summary(manifest: "Manifest") -> str:
    from chie.backup.database import describe

    return describe(manifest.counts) or "no database"


def _files(manifest: "Manifest") -> list[str]:
    names = [name.removeprefix("home/") for name in manifest.items if name.startswith("home/")]
    workflows = [name for name in names if name.startswith("n8n-backups/")]
    rest = [name for name in names if name not in workflows]
    return rest + ([f"workflow backups ({len(workflows)})"] if workflows else [])
