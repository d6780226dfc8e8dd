"""`chie notes`: the notes from a terminal, for people and for scripts."""

import codecs
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic_core import to_jsonable_python

from chie.access.audit import record
from chie.database.settings import database_url
from chie.database.url import parse_location
from chie.errors import NotFoundError, ValidationError
from chie.knowledge.exchange import export_notes, import_files, markdown_files, tidy
from chie.knowledge.migration import Journal, Migration, Report
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_embedder, create_store, open_store
from chie.settings import load

if TYPE_CHECKING:
    from chie.knowledge.store.base import NoteStore

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
TAGS = click.option("--tag", "tags", multiple=True, help="May be given several times.")
FOLDER = click.argument("folder", type=click.Path(path_type=Path))


@click.group()
def notes() -> None:
    """Save, find and move the team's notes."""


@contextmanager
def _service() -> Iterator[KnowledgeService]:
    store = create_store(load(KnowledgeSettings))
    try:
        yield KnowledgeService(store)
    except NotFoundError as error:  # its own words name tools of assistants
        raise NotFoundError("no note has this id. `chie notes list` shows the ids that exist.") from error
    finally:
        store.close()


def _print_json(value: Any) -> None:  # noqa: ANN401
    """Dates as the tools of assistants give them; no letter is lost where the output is not UTF-8."""
    lossless = codecs.lookup(sys.stdout.encoding).name == "utf-8"
    click.echo(json.dumps(to_jsonable_python(value), ensure_ascii=not lossless, indent=2))


@notes.command()
@click.argument("content")
@click.option("--title", help="Made from the content if absent.")
@TAGS
@click.option("--source", help="Where it comes from: a file, a URL, a repository.")
@click.option("--private", is_flag=True, help="Only you see it, whom CHIE_USER names.")
@AS_JSON
def save(
    content: str, title: str | None, tags: tuple[str, ...], source: str | None, *, private: bool, as_json: bool
) -> None:
    """Save a note; `-` reads its text from standard input."""
    if content == "-":
        content = _standard_input()
    with _service() as service:
        saved = service.save(content, title=title, tags=tags, source=source, private=private, author_kind="person")
    if as_json:
        return _print_json(asdict(saved))
    click.echo(f"Saved {saved.id}  {saved.title}")
    for similar in saved.similar:
        click.echo(f"  much like {similar.id}  {similar.title}  ({similar.score:.2f})")
    _say(saved.notice)
    return None


@notes.command()
@click.argument("query")
@click.option("--limit", default=10, show_default=True)
@TAGS
@AS_JSON
def search(query: str, limit: int, tags: tuple[str, ...], *, as_json: bool) -> None:
    """Find notes by meaning, in Japanese or English."""
    with _service() as service:
        found = service.search(query, limit=limit, tags=tags)
    if as_json:
        return _print_json(asdict(found))
    for hit in found.hits:
        click.echo(f"{hit.score:.2f}  {hit.id}  {click.style(hit.title, bold=True)}{_labels(hit.tags)}")
        click.echo(f"      {' '.join(hit.content.split())[:160]}")
    if not found.hits:
        click.echo("No note matches. `chie notes list` shows what there is.")
    _say(found.notice)
    return None


@notes.command("list")
@click.option("--tag", help="Only notes that carry it.")
@click.option("--limit", default=20, show_default=True)
@click.option("--cursor", help="Where the page before ended.")
@AS_JSON
def list_(tag: str | None, limit: int, cursor: str | None, *, as_json: bool) -> None:
    """List notes, newest first."""
    with _service() as service:
        page = service.browse(tag=tag, limit=limit, cursor=cursor)
    if as_json:
        return _print_json(asdict(page))
    for note in page.notes:
        mark = "  (private)" if note.private else ""
        click.echo(f"{note.id}  {note.created_at:%Y-%m-%d}  {note.title}{mark}{_labels(note.tags)}")
    if page.next_cursor:
        options = [*(["--tag", tag] if tag else []), "--limit", str(limit), "--cursor", page.next_cursor]
        click.echo(f"More: chie notes list {shlex.join(options)}")
    if not page.notes:
        click.echo(f"No notes{' with this tag' if tag else ''}.")
    return None


@notes.command()
@click.argument("note_id", metavar="ID")
@AS_JSON
def show(note_id: str, *, as_json: bool) -> None:
    """Print one note whole."""
    with _service() as service:
        note = service.get(note_id)
    if as_json:
        return _print_json(asdict(note))
    click.secho(note.title, bold=True)
    about = [
        note.user_id,
        f"{note.updated_at:%Y-%m-%d %H:%M} UTC",
        *([note.source] if note.source else []),
        *(["private"] if note.private else []),
    ]
    click.echo(" · ".join(about) + _labels(note.tags))
    click.echo(f"\n{note.content}")
    return None


@notes.command()
@click.argument("note_id", metavar="ID")
def delete(note_id: str) -> None:
    """Delete one note for good."""
    with _service() as service:
        service.delete(note_id)
    click.echo(f"Deleted {note_id}")


@notes.command("import")
@FOLDER
@click.option("--overwrite", is_flag=True, help="Also over notes that were changed in Chie after their files.")
def import_(folder: Path, *, overwrite: bool) -> None:
    """Take in a folder of Markdown and text files, such as an Obsidian vault.

    Running it again takes up where it stopped and updates what has changed since. A note that was changed in Chie
    after its file is left alone.
    """
    files = markdown_files(folder)
    with _service() as service, click.progressbar(files, label="Importing", file=sys.stderr) as bar:
        report = import_files(service, bar, overwrite=overwrite)
    click.echo(f"{report.saved} saved, {report.unchanged} unchanged, {len(report.refused)} refused")
    if report.newer:
        click.echo(f"{len(report.newer)} left alone: changed in Chie after these files. --overwrite takes the files:")
    for path in report.newer:
        click.echo(f"  {path}", err=True)
    for path, reason in report.refused.items():
        click.echo(f"  {path}: {reason}", err=True)
    if report.refused:
        sys.exit(1)


@notes.command()
@FOLDER
def export(folder: Path) -> None:
    """Write every note as a Markdown file; importing them elsewhere gives the same notes."""
    with _service() as service:
        total = service.count()
        with click.progressbar(export_notes(service, folder), length=total, label="Exporting", file=sys.stderr) as bar:
            written = set(bar)
        left = tidy(service, folder, written)
    click.echo(f"{len(written)} notes written to {folder}")
    if left:
        click.echo(
            f"{len(left)} files of earlier exports are there too, edited since or of notes that are not here. "
            "An import of the folder would take them in:"
        )
    for path in left:
        click.echo(f"  {path}", err=True)


def _good_place(_: click.Context, __: click.Parameter, place: str) -> str:
    """A slip in an address, or the name of a kind of store, would become a file of that name in this folder."""
    with_folder = ("/" in place or os.sep in place) and "//" not in place.lstrip("/")
    if "://" in place or with_folder or Path(place).suffix:
        return place
    raise ValidationError(
        "--to names no place for notes. Write postgresql://user@host/name, or a file's path with its folder or its "
        "ending, such as ./notes.db."
    )


@notes.command()
@click.option(
    "--to", "place", required=True, callback=_good_place, help="postgresql://user@host/name, or the path of a file."
)
def migrate(place: str) -> None:
    """Copy every note into another store, to work there from then on.

    People may go on working meanwhile: what they change is caught up with. It can be stopped anywhere and run again.
    The password may stand in PGPASSWORD or ~/.pgpass rather than on the command line.
    """
    from chie.knowledge.embedding.precomputed import CarriedEmbedder

    settings = load(KnowledgeSettings)
    url = parse_location(place, source="--to")
    name = url.identity
    if not settings.knowledge_store and name == database_url(settings).identity:
        raise ValidationError("the notes are kept there already. Name another place with --to.")
    carried = CarriedEmbedder(create_embedder(settings))
    journal = Journal.open(settings.home.expanduser() / "migrations" / sha256(name.encode()).hexdigest()[:16])
    with closing(create_store(settings)) as source, closing(open_store(url, carried)) as target:
        report = Migration(source, target, carried, journal).run(partial(_bar, source))
    record("notes.migrated", name)
    also = ", unset CHIE_KNOWLEDGE_STORE" if settings.knowledge_store else ""
    _tell(report, name, also)


@contextmanager
def _bar(source: "NoteStore", walk: int) -> Iterator[Callable[[int], None]]:
    label = "Comparing" if walk else "Copying"
    with click.progressbar(length=source.check().notes, label=label, file=sys.stderr) as bar:
        yield bar.update


def _tell(report: Report, name: str, also: str) -> None:
    click.echo(
        f"{report.copied} notes copied, {report.deleted} deleted; {report.same} are the same in both, compared whole."
    )
    if report.newer:
        click.echo(f"{report.newer} were changed there later than here and were left alone.")
    if report.foreign:
        click.echo(f"{report.foreign} were written there and were left alone.")
    value = f"sqlite:///{name}" if name.startswith("/") else "the address that you gave with --to"
    click.echo(
        f"Now set CHIE_DATABASE_URL to {value}{also} and start Chie again. Run this once more with the old setting if "
        "somebody may have saved a note here meanwhile. Conversations are not copied: the setting moves them too, to a "
        "place where they begin anew."
    )


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError("standard input is not UTF-8 text. Convert it first, with iconv for example.") from error


def _labels(tags: list[str]) -> str:
    return "".join(click.style(f"  #{tag}", dim=True) for tag in tags)


def _say(notice: str | None) -> None:
    if notice:
        click.echo(notice, err=True)
