"""Options and arguments that commands of `chie notes` share."""

from datetime import datetime
from pathlib import Path

import click


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    try:
        return None if value is None else datetime.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter("copy `updated_at` from `--json`, such as 2026-03-01T09:30:00.123456Z") from error


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
SEEN = click.option(
    "--updated-at",
    "seen",
    metavar="DATE",
    callback=_moment,
    help="`updated_at` of the note as you read it; if it has changed since, nothing is done.",
)
FOLDER = click.argument("folder", type=click.Path(path_type=Path))
