"""Differences and results as lines of text and as JSON, for the command line."""

from collections.abc import Iterator

from chie.n8n.folder.comparison import Entry
from chie.n8n.folder.push import Pushed
from chie.n8n.models import Json

STATES = {"changed": "changed", "only_in_folder": "only in the folder", "only_in_n8n": "only in n8n"}


def lines(entry: Entry) -> Iterator[str]:
    """`+` is what a push would add to n8n, `-` what it would remove, `~` what it would change."""
    published = ", published" if entry.workflow and entry.workflow.get("active") else ""
    file = f" ({entry.file.path.name}{published})" if entry.file else ""
    yield f"{STATES.get(entry.state, entry.state)}: {entry.name}{file}"
    found = entry.difference
    if found.name:
        yield f"    ~ name: {found.name[0]} → {found.name[1]}"
    for sign, what, names in (
        ("+", "node", found.added),
        ("-", "node", found.removed),
        ("+", "connection", found.connections_added),
        ("-", "connection", found.connections_removed),
        ("+", "tag", found.tags_added),
        ("-", "tag", found.tags_removed),
        ("~", "setting", found.settings),
        ("~", "field", found.others),
    ):
        for name in names:
            yield f"    {sign} {what} {name}"
    for name, paths in entry.paths.items():
        yield f"    ~ node {name}: {', '.join(paths)}"


def outcome(result: Pushed) -> Json:
    file = result.entry.file
    row: Json = {"file": file.path.name if file else None, "name": result.entry.name}
    if result.error:
        return {**row, "error": result.error.message, "code": result.error.code}
    report = result.report
    assert report is not None  # noqa: S101 - there is one without an error
    row |= {"id": str(report.workflow["id"]), "steps": [str(step) for step in report.steps]}
    return row | ({"notes": [str(note) for note in report.notes]} if report.notes else {})
