"""A note as a Markdown file with front matter: exactly ours when we wrote it, as much as we understand otherwise."""

import re
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

from chie.errors import ValidationError
from chie.knowledge.note import ANONYMOUS, Note

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(?P<title>.+?)[ \t#]*$", re.MULTILINE)
_SCALAR = (str, int, float, date)
_UNSAFE = re.compile(r"[^\w.-]+")


def write(note: Note) -> str:
    """Loss-free: `read` gives the same note back."""
    fields = {key: value for key, value in asdict(note).items() if value not in (None, [], False) and key != "content"}
    fields["created_at"] = note.created_at.isoformat()
    fields["updated_at"] = note.updated_at.isoformat()
    matter = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1_000_000)
    return f"---\n{matter}---\n{note.content}\n"


def file_name(note: Note) -> str:
    """Readable, and unique through the id."""
    title = _UNSAFE.sub("-", note.title).strip("-.")[:60]
    return f"{title}-{note.id}.md" if title else f"{note.id}.md"


def read(path: Path, *, owner: str = ANONYMOUS) -> Note:
    """Raises ValidationError for a file that cannot become a note."""
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return parse(decode(_bytes(path)), name=path.stem, source=path.resolve().as_uri(), changed=changed, owner=owner)


def parse(text: str, *, name: str, source: str, changed: datetime, owner: str = ANONYMOUS) -> Note:
    """The same `source` of the same `owner` gets the same id each time: importing again updates instead of adding."""
    fields, body = _parts(text)
    created = _moment(fields, "created_at", "created", "date") or changed
    return Note(
        id=_words(fields, "id") or _id_of(source if owner == ANONYMOUS else f"{owner} {source}"),
        title=_title(fields, body, name),
        content=body.strip(),
        tags=_tags(fields),
        source=_words(fields, "source") or _source(fields, source),
        status=_words(fields, "status"),
        user_id=_words(fields, "user_id") or owner,
        author_kind="agent" if fields.get("author_kind") == "agent" else "person",
        private=fields.get("private") is True,
        created_at=created,
        updated_at=_moment(fields, "updated_at", "updated", "modified") or max(created, changed),
    )


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError("it is not UTF-8 text. Save it as UTF-8.") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValidationError(f"it cannot be read: {error.strerror}.") from error


def _parts(text: str) -> tuple[dict[str, Any], str]:
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text.removeprefix("\ufeff")
    try:
        fields = yaml.safe_load(match["yaml"])
    except (yaml.YAMLError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise ValidationError(f"its front matter is not YAML (near line {line}). Correct or remove it.") from error
    return (fields if isinstance(fields, dict) else {}), text[match.end() :]


def _id_of(source: str) -> str:
    return f"k-{uuid5(NAMESPACE_URL, source).hex[:16]}"


def _words(fields: dict[str, Any], name: str) -> str | None:
    """Lists and mappings are no words; with YAML's aliases a few lines of them could unfold to gigabytes."""
    value = fields.get(name)
    return str(value) if value and isinstance(value, _SCALAR) else None


def _title(fields: dict[str, Any], body: str, name: str) -> str:
    if title := _words(fields, "title"):
        return title
    heading = _HEADING.search(body)
    return heading["title"] if heading else name


def _tags(fields: dict[str, Any]) -> list[str]:
    """A list, or words with commas or spaces between them, as Obsidian allows."""
    tags = fields.get("tags") or fields.get("tag") or []
    if isinstance(tags, str):
        return [tag for tag in re.split(r"[,\s]+", tags) if tag]
    return [str(tag) for tag in (tags if isinstance(tags, list) else [tags]) if isinstance(tag, _SCALAR)]


def _source(fields: dict[str, Any], source: str) -> str | None:
    """Our own export has an id and says where it came from, or that nobody knows; any other file is its source."""
    return None if _words(fields, "id") else source


def _moment(fields: dict[str, Any], *names: str) -> datetime | None:
    value = next((fields[name] for name in names if fields.get(name)), None)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else None
