"""`make dist`: everything into `dist/`, with checksums, and what is left to do by hand."""

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
    """Build into FOLDER. Nothing is uploaded: whose registry and whose key it is, this script does not know."""
    refuse_other_versions()
    built = build(folder)
    for file in (*built.files, write_sums(built)):
        click.echo(f"{file.stat().st_size / MEGABYTE:7.1f} MB  {file}")
    if built.wheel.stat().st_size > WHEEL_LIMIT_MB * MEGABYTE:
        raise click.ClickException(f"the wheel is larger than {WHEEL_LIMIT_MB} MB: look at what went into it")


def refuse_other_versions() -> None:
    """One version everywhere: the registry's file names what is built here, and the plug-in fits it."""
    card = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    named = {card["version"], *(package["version"] for package in card["packages"])}
    if named != {__version__}:
        raise click.ClickException(
            f"server.json names {', '.join(sorted(named))}; this is {__version__}: make them equal"
        )
    plug_in = tomllib.loads((PLUG_IN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if plug_in != __version__:
        raise click.ClickException(f"chie-agent-adk is {plug_in}; this is {__version__}: make them equal")


if __name__ == "__main__":
    sys.exit(main())
