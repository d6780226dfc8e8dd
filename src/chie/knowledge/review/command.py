"""The command `chie notes review`. What it runs is imported when it runs."""

import click

from chie.knowledge.cli.options import AS_JSON
from chie.knowledge.review.findings import KINDS, Kind

MAX_LISTED = 100


@click.command()
@click.option("--kind", type=click.Choice(KINDS), help="Only findings of this kind.")
@click.option("--limit", default=MAX_LISTED, show_default=True, type=click.IntRange(1, MAX_LISTED))
@AS_JSON
def review(kind: Kind | None, limit: int, *, as_json: bool) -> None:
    """Decide on notes that repeat or contradict each other, are out of date or have no author.

    In a terminal, one key decides. Otherwise the findings are listed.
    """
    from chie.knowledge.review.cli import run_review

    run_review(kind, limit, as_json=as_json)
