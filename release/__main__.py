"""`make dist`: everything into `dist/`, with checksums, and what is left to do by hand."""

import json
import sys
from pathlib import Path

import click

from chie import __version__
from release.build import ROOT, WHEEL_LIMIT_MB, build, write_sums

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
    """One version everywhere: the registry's file names the very package that is built here."""
    card = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    named = {card["version"], *(package["version"] for package in card["packages"])}
    if named != {__version__}:
        raise click.ClickException(
            f"server.json names {', '.join(sorted(named))}; this is {__version__}: make them equal"
        )


if __name__ == "__main__":
    sys.exit(main())
