"""A note as a Markdown file with front matter: exactly ours when we wrote it, as much as we understand otherwise."""

import re
from dataclasses import asdict
from datetime import UTC, datetime, time
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import ScalarNode

from chie.errors import ValidationError
from chie.knowledge.note import ANONYMOUS, Note

ENDINGS = (".md", ".markdown", ".txt")  # of files that become notes, in whatever case

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(?P<title>.+)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_UNSAFE = re.compile(r"[^\w.-]+")
_PLAIN_ID = re.compile(r"[\w-]{1,100}", re.ASCII)
_LONGEST_NAME = 255 - len("-.part")  # bytes, which is what most file systems allow
_LONGEST_MATTER = 64 * 1024  # characters; ours is a tenth of it, and YAML is read at a snail's pace
_ALWAYS_WRITTEN = {"id", "title", "user_id", "author_kind", "created_at", "updated_at"}
_NULL = "tag:yaml.org,2002:null"


class _Loader(yaml.BaseLoader):
    """What people typed stays as they typed it: YAML would make True of `Yes`, 3.1 of `3.10`, 83 of `0123`."""


# Only what is not there is no text. In quotes it is text, so that a note may be called null.
_Loader.add_implicit_resolver(_NULL, re.compile(r"\A(?:~|null|Null|NULL)?\Z"), ["~", "n", "N", ""])
_Loader.add_constructor(_NULL, lambda *_: None)


def write(note: Note) -> str:
    """Loss-free: `read` gives the same note back."""
    fields = {key: value for key, value in asdict(note).items() if value not in (None, [], False) and key != "content"}
    fields["created_at"] = note.created_at.isoformat()
    fields["updated_at"] = note.updated_at.isoformat()
    matter = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1_000_000)
    return f"---\n{matter}---\n{note.content}\n"


def file_name(note: Note) -> str:
    """Readable, and unique through the id. An id that is more than a name, such as a path, is not spelt out."""
    name = note.id if _PLAIN_ID.fullmatch(note.id) else sha256(note.id.encode(errors="surrogatepass")).hexdigest()[:32]
    title = _UNSAFE.sub("-", note.title).strip("-.")[:60]
    title = title.encode()[: _LONGEST_NAME - len(name)].decode(errors="ignore")
    return f"{title}-{name}.md" if title else f"{name}.md"


def read(path: Path, *, owner: str = ANONYMOUS) -> Note:
    """Raises ValidationError for a file that cannot become a note."""
    content, changed = _contents(path)
    return parse(decode(content), name=path.stem, source=path.resolve().as_uri(), changed=changed, owner=owner)


def exported(path: Path) -> Note | None:
    """The note of a file that `write` made: by its front matter, whether or not somebody has edited it since."""
    try:
        content, changed = _contents(path)
        fields, _ = _parts(decode(content)) if content.startswith(b"---\nid: ") else ({}, "")
        ours = fields.keys() >= _ALWAYS_WRITTEN
        return parse(decode(content), name=path.stem, source=path.name, changed=changed) if ours else None
    except ValidationError:
        return None


def parse(text: str, *, name: str, source: str, changed: datetime, owner: str = ANONYMOUS) -> Note:
    """The same `source` of the same `owner` gets the same id each time: importing again updates instead of adding.
    An id in the front matter counts only where we wrote it: other programs' need not be unique, and often are not.
    """
    fields, body = _parts(text)
    ours = fields.keys() >= _ALWAYS_WRITTEN
    created = _moment(fields, "created_at", "created", "date") or changed
    return Note(
        id=(_words(fields, "id") if ours else None) or _id_of(source if owner == ANONYMOUS else f"{owner} {source}"),
        title=_title(fields, body, name),
        content=body.strip(),
        tags=_tags(fields),
        source=_words(fields, "source") or (None if ours else source),
        status=_words(fields, "status"),
        user_id=_words(fields, "user_id") or owner,
        author_kind="agent" if fields.get("author_kind") == "agent" else "person",
        private=(_words(fields, "private") or "").lower() in ("true", "yes", "on"),
        created_at=created,
        updated_at=_moment(fields, "updated_at", "updated", "modified") or max(created, changed),
    )


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError("it is not UTF-8 text. Save it as UTF-8.") from error


def _contents(path: Path) -> tuple[bytes, datetime]:
    try:
        return path.read_bytes(), _changed(path.stat().st_mtime)
    except OSError as error:
        raise ValidationError(f"it cannot be read: {error.strerror}.") from error


def _changed(seconds: float) -> datetime:
    """File systems know years that calendars do not."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)


def _parts(text: str) -> tuple[dict[Any, Any], str]:
    """Between two lines of dashes may also stand a part of the text: they are rules then, and all of it stays."""
    match = _FRONT_MATTER.match(text)
    fields = _fields(match["yaml"]) if match else None
    if match is None or fields is None:
        return {}, text.removeprefix("\ufeff")
    return fields, text[match.end() :]


def _fields(matter: str) -> dict[Any, Any] | None:
    if len(matter) > _LONGEST_MATTER:
        raise ValidationError(
            f"its front matter is too long: at most {_LONGEST_MATTER // 1024} kB. "
            "Shorten what stands between the first two lines of ---."
        )
    if not matter.strip():
        return {}
    try:
        # The loader makes texts, lists and mappings alone.
        fields = yaml.load(matter, _Loader)  # noqa: S506 # nosec B506
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise ValidationError(f"its front matter is not YAML (near line {line}). Correct or remove it.") from error
    return fields if isinstance(fields, dict) else None


def _id_of(source: str) -> str:
    return f"k-{uuid5(NAMESPACE_URL, source).hex[:16]}"


def _words(fields: dict[Any, Any], name: str) -> str | None:
    """Lists and mappings are no words; with YAML's aliases a few lines of them could unfold to gigabytes."""
    value = fields.get(name)
    return value if value and isinstance(value, str) else None


def _title(fields: dict[Any, Any], body: str, name: str) -> str:
    if title := _words(fields, "title"):
        return title
    heading = _HEADING.search(_prose(body))
    return heading["title"].rstrip(" \t#") or heading["title"][0] if heading else name


def _prose(body: str) -> str:
    """Without fenced code, where a line that begins with `#` is a comment."""
    lines, fence = list[str](), ""
    for line in body.split("\n"):
        found = _FENCE.match(line)
        if not found:
            lines.extend([] if fence else [line])
        elif not fence:
            fence = found["marks"]
        elif found["marks"].startswith(fence) and not found["rest"].strip():
            fence = ""
    return "\n".join(lines)


def _tags(fields: dict[Any, Any]) -> list[str]:
    """A list, or words with commas or spaces between them, as Obsidian allows."""
    tags = fields.get("tags") or fields.get("tag") or []
    if isinstance(tags, str):
        return [tag for tag in re.split(r"[,\s]+", tags) if tag]
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def _moment(fields: dict[Any, Any], *names: str) -> datetime | None:
    """None also for a day that no calendar has, in UTC or where it was written."""
    text = next(filter(None, (_words(fields, name) for name in names)), None)
    try:
        moment = _timestamp(text) if text else None
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _timestamp(text: str) -> datetime:
    """As ISO writes it, or as YAML may: `2026-1-2`, `2026-01-02 3:04:05 +9`."""
    if not SafeConstructor.timestamp_regexp.match(text):
        return datetime.fromisoformat(text)
    value = SafeConstructor().construct_yaml_timestamp(ScalarNode("", text))
    return value if isinstance(value, datetime) else datetime.combine(value, time())
