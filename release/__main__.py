"""`make dist` builds everything into `dist/`, with checksums."""

import json
import sys
import tomllib
from pathlib import Path

import click

from chie import __version__
from release.build import PLUG_IN, ROOT, WHEEL_LIMIT_MB, build, write_sums

MEGABYTE = 1_000_000


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "dist")
def main(folder: Path) -> None:
    """Build into FOLDER. Nothing is uploaded."""
    check_versions()
    built = build(folder)
    for file in (*built.files, write_sums(built)):
        click.echo(f"{file.stat().st_size / MEGABYTE:7.1f} MB  {file}")
    if built.wheel.stat().st_size > WHEEL_LIMIT_MB * MEGABYTE:
        raise click.ClickException(f"The wheel is larger than {WHEEL_LIMIT_MB} MB. Check its contents.")


def check_versions() -> None:
    """Raises unless `server.json` and the plug-in have this version."""
    card = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    named = {card["version"], *(package["version"] for package in card["packages"])}
    if named != {__version__}:
        raise click.ClickException(
            f"server.json has version {', '.join(sorted(named))}, but this is {__version__}. Make them equal."
        )
    plug_in = tomllib.loads((PLUG_IN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if plug_in != __version__:
        raise click.ClickException(f"chie-agent-adk has version {plug_in}, but this is {__version__}. Make them equal.")


if __name__ == "__main__":
    sys.exit(main())
