"""Options and arguments that commands of `chie notes` share."""

from pathlib import Path

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
TAGS = click.option("--tag", "tags", multiple=True, help="May be repeated.")
SPACE = click.option("--space", help="The space of the notes.")
SECRETS = click.option(
    "--secrets",
    type=click.Choice(["refuse", "mask", "allow"]),
    default="refuse",
    show_default=True,
    help="What to do with text that looks like a password or a key.",
)
FOLDER = click.argument("folder", type=click.Path(path_type=Path))
