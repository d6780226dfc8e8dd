"""`chie notes migrate`: copies every note into another store."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.access.audit import record
from chie.database.settings import database_url
from chie.database.url import parse_location
from chie.errors import ValidationError
from chie.knowledge.migration import Journal, Migration, MigrationReport
from chie.knowledge.settings import KnowledgeSettings, create_embedder, create_store, open_store
from chie.settings import load

if TYPE_CHECKING:
    from collections import Counter

    from chie.knowledge.migration_records import RecordCounts
    from chie.knowledge.store.base import NoteStore


def _migration_target(_: click.Context, __: click.Parameter, target: str) -> str:
    """A typo in a URL, or the name of a kind of store, would otherwise create a file in this folder."""
    with_folder = ("/" in target or os.sep in target) and "//" not in target.lstrip("/")
    if "://" in target or with_folder or Path(target).suffix:
        return target
    raise ValidationError("knowledge.migration_target_invalid")


@click.command()
@click.option(
    "--to",
    "target",
    required=True,
    callback=_migration_target,
    help="postgresql://user@host/name, or the path of a file.",
)
def migrate(target: str) -> None:
    """Copy every note into another store.

    Chie can stay in use meanwhile: changes are copied too. The command can be interrupted and run again. Put the
    password into PGPASSWORD or ~/.pgpass rather than on the command line.
    """
    from chie.knowledge.embedding.precomputed import PrecomputedEmbedder

    settings = load(KnowledgeSettings)
    url = parse_location(target, source="--to")
    name = url.identity
    if not settings.knowledge_store and name == database_url(settings).identity:
        raise ValidationError("knowledge.migration_same_database")
    embedder = PrecomputedEmbedder(create_embedder(settings))
    journal = Journal.open(settings.home.expanduser() / "migrations" / sha256(name.encode()).hexdigest()[:16])
    with closing(create_store(settings)) as source, closing(open_store(url, embedder)) as destination:
        report = Migration(source, destination, embedder, journal).run(partial(_bar, source))
    record("notes.migrated", name)
    also = ", unset CHIE_KNOWLEDGE_STORE" if settings.knowledge_store else ""
    _summarise(report, name, also)


@contextmanager
def _bar(source: "NoteStore", number: int) -> Iterator[Callable[[int], None]]:
    label = "Comparing" if number else "Copying"
    with click.progressbar(length=source.check().notes, label=label, file=sys.stderr) as bar:
        yield bar.update


def _summarise(report: MigrationReport, name: str, also: str) -> None:
    click.echo(f"{report.copied} notes copied, {report.deleted} deleted; {report.same} are equal in both stores.")
    if report.newer:
        click.echo(f"{report.newer} were changed in the target later and were kept.")
    if report.foreign:
        click.echo(f"{report.foreign} exist only in the target and were kept.")
    _summarise_records(report.records)
    value = f"sqlite:///{name}" if name.startswith("/") else "the URL that you gave with --to"
    click.echo(
        f"Now set CHIE_DATABASE_URL to {value}{also} and restart Chie. Run this again with the old setting if notes "
        "may have been saved meanwhile. Conversations are not copied: with the new setting they start empty."
    )


def _summarise_records(records: "RecordCounts") -> None:
    """What a store does not have, such as versions in Vector Search, cannot be copied and is not named."""
    if records.total:
        click.echo(f"With them, compared one by one: {_listed(records.total)}.")
    if records.kept:
        click.echo(f"Different in the target, and kept there: {_listed(records.kept)}.")


def _listed(counts: "Counter[str]") -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())
