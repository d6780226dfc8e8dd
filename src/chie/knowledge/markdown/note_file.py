"""Notes as Markdown files with front matter: lossless for our own exports, best effort for other files."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, time
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, get_args
from uuid import NAMESPACE_URL, uuid5

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import ScalarNode

from chie.errors import ValidationError
from chie.knowledge import rules
from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.markdown import obsidian
from chie.knowledge.markdown.encodings import decode
from chie.knowledge.markdown.obsidian import Resolve
from chie.knowledge.note import ANONYMOUS, TEAM, Note, NoteOrigin, new_id
from chie.knowledge.validation import MAX_TAG, MAX_TAGS

# In any case. Documents have text too, but cannot be read yet.
FILE_SUFFIXES = (".md", ".markdown", ".txt")
DOCUMENT_SUFFIXES = (
    *(".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".rtf", ".epub"),
    *(".pages", ".numbers", ".key"),
)

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(?P<title>.+)$", re.MULTILINE)
_UNSAFE = re.compile(r"[^\w.-]+")
_PLAIN_ID = re.compile(r"[\w-]{1,100}", re.ASCII)
_MAX_NAME_BYTES = 255 - len("-.part")  # the limit of most file systems
_MAX_FRONT_MATTER = 64 * 1024  # characters; parsing YAML is slow
_MAX_ID_ATTEMPTS = 8
_ALWAYS_WRITTEN = {"id", "title", "user_id", "created_at", "updated_at"}
_NULL = "tag:yaml.org,2002:null"

# The fields of a note that a file need not have, and their names in front matter; the second ones only in our exports.
_CREATED = ("created_at", "created", "date")
_OPTIONAL = {
    "tags": ("tags", "tag"),
    "source": ("source",),
    "status": ("status",),
    "private": ("private",),
    "questions": ("questions",),
    "supersedes": ("supersedes",),
    "anchor": ("anchor",),
    "created_at": _CREATED,
}
_OURS = {
    "origin": ("origin", "author_kind"),
    "space": ("space",),
    "proposal": ("proposal",),
    "signatures": ("signatures",),
    "confirmed_by": ("confirmed_by",),
    "confirmed_at": ("confirmed_by",),
}


class _Loader(yaml.BaseLoader):
    """Keeps scalars as text: YAML would turn `Yes` into True, `3.10` into 3.1 and `0123` into 83."""


# Unquoted null is None; in quotes it is text, so that a note may have the title null.
_Loader.add_implicit_resolver(_NULL, re.compile(r"\A(?:~|null|Null|NULL)?\Z"), ["~", "n", "N", ""])
_Loader.add_constructor(_NULL, lambda *_: None)


def _always(_: str) -> bool:
    return True


def _nowhere(_: str) -> None:
    return None


def write(note: Note) -> str:
    """Lossless: `read` returns the same note."""
    fields = {key: value for key, value in asdict(note).items() if value not in (None, [], False) and key != "content"}
    if note.space == TEAM:
        del fields["space"]
    if note.anchor:
        fields["anchor"] = {name: value for name, value in asdict(note.anchor).items() if value is not None}
    fields |= {name: value.isoformat() for name, value in fields.items() if isinstance(value, datetime)}
    matter = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1_000_000)
    return f"---\n{matter}---\n{note.content}\n"


def file_name(note: Note) -> str:
    """Readable, and unique because of the id. An id that is not a file name, such as a path, is hashed."""
    name = note.id if _PLAIN_ID.fullmatch(note.id) else sha256(note.id.encode(errors="surrogatepass")).hexdigest()[:32]
    title = _UNSAFE.sub("-", note.title).strip("-.")[:60]
    title = title.encode()[: _MAX_NAME_BYTES - len(name)].decode(errors="ignore")
    return f"{title}-{name}.md" if title else f"{name}.md"


@dataclass(frozen=True)
class File:
    """`changed` is the modification time."""

    name: str
    content: bytes
    changed: datetime

    @classmethod
    def of(cls, path: Path) -> "File":
        """ValidationError for a file that cannot be read."""
        content, changed = _contents(path)
        return cls(path.name, content, changed)


@dataclass(frozen=True)
class ParsedFile:
    """`missing` are the fields that the file does not have; the note has defaults there."""

    note: Note
    missing: frozenset[str]

    def over(self, stored: Note) -> Note:
        """As the next version of the stored note, which keeps what the file does not have. Nobody has confirmed another
        text."""
        note = replace(self.note, id=stored.id, **{name: getattr(stored, name) for name in self.missing})
        return rules.confirmation_after(stored, note, "import") if "confirmed_by" in self.missing else note


def read(path: Path) -> Note:
    """ValidationError for a file that cannot become a note."""
    file = File.of(path)
    return parse(decode(file.content), name=path.stem, source=path.resolve().as_uri(), changed=file.changed)


def parse_file(file: File, *, source: str, owner: str, resolve: Resolve) -> ParsedFile:
    """The note has an id only if Chie exported the file. Plain text has no tags and links."""
    is_text = file.name.lower().endswith(".txt")
    name = PurePosixPath(file.name).stem
    return _parsed(
        decode(file.content),
        name=name,
        source=source,
        changed=file.changed,
        owner=owner,
        resolve=None if is_text else resolve,
    )


def first_line(content: bytes) -> int:
    """The line of a file, counted from 1, where the note's text begins after front matter and blank lines."""
    text = decode(content)
    _, body = _parts(text)
    begin = len(text) - len(body.lstrip())
    return text.count("\n", 0, begin) + 1


def exported(path: Path) -> Note | None:
    """The note of a file that `write` created, recognised by its front matter even if it was edited since."""
    try:
        content, changed = _contents(path)
        fields, _ = _parts(decode(content)) if content.startswith(b"---\nid: ") else ({}, "")
        ours = _is_ours(fields)
        return parse(decode(content), name=path.stem, source=path.name, changed=changed) if ours else None
    except ValidationError:
        return None


def parse(text: str, *, name: str, source: str, changed: datetime, owner: str = ANONYMOUS) -> Note:
    """The same `source` and `owner` give the same id."""
    note = _parsed(text, name=name, source=source, changed=changed, owner=owner, resolve=_nowhere).note
    return note if note.id else replace(note, id=derived_id(source, owner))


def derived_id(key: str, owner: str, is_free: Callable[[str], bool] = _always) -> str:
    """The same `key` and `owner` give the same id, so that importing again updates the note. Others can compute that id
    too: if it is not `is_free`, the note gets another."""
    key = key if owner == ANONYMOUS else f"{owner} {key}"
    keys = [key, *(f"{key} {number}" for number in range(2, _MAX_ID_ATTEMPTS + 1))]
    return next(filter(is_free, map(_id_of, keys)), None) or new_id()


def _parsed(text: str, *, name: str, source: str, changed: datetime, owner: str, resolve: Resolve | None) -> ParsedFile:
    """An id in the front matter is used only in our own exports, which are read as they are: ids of other programs are
    often not unique. Without `resolve` the text has no tags and links."""
    fields, body = _parts(text)
    ours = _is_ours(fields)
    created = _moment(fields, *_CREATED)
    title, tags = _title(fields, body, name), _listed(fields, "tags", "tag")
    if not ours and resolve is not None:
        tags = _with_inline(tags, obsidian.inline_tags(body))
        body = obsidian.with_aliases(obsidian.with_links(body, resolve), title, _aliases(fields))
    note = Note(
        id=(ours and _text(fields, "id")) or "",
        title=title,
        content=body.strip(),
        tags=tags,
        source=_text(fields, "source") or (None if ours else source),
        status=_text(fields, "status"),
        user_id=_text(fields, "user_id") or owner,
        origin=_origin(fields) if ours else "import",
        space=(ours and _text(fields, "space")) or TEAM,
        private=_is_true(fields, "private"),
        proposal=ours and _is_true(fields, "proposal"),
        questions=_lines(fields, "questions"),
        supersedes=_lines(fields, "supersedes"),
        signatures=_lines(fields, "signatures") if ours else [],
        confirmed_by=_text(fields, "confirmed_by") if ours else None,
        confirmed_at=_moment(fields, "confirmed_at") if ours else None,
        anchor=_anchor(fields),
        created_at=created or changed,
        updated_at=_moment(fields, "updated_at", "updated", "modified") or max(created or changed, changed),
    )
    missing = {field for field, names in (_OPTIONAL | _OURS).items() if fields.keys().isdisjoint(names)}
    missing = missing if ours else (missing | _OURS.keys()) - {"source"}
    missing = missing if created else missing | {"created_at"}
    return ParsedFile(note, frozenset(missing - {"tags"} if tags else missing))


def _contents(path: Path) -> tuple[bytes, datetime]:
    try:
        return path.read_bytes(), _changed(path.stat().st_mtime)
    except OSError as error:
        raise ValidationError("knowledge.file_unreadable", reason=error.strerror or type(error).__name__) from error


def _changed(seconds: float) -> datetime:
    """File systems support years that `datetime` does not."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)


def _parts(text: str) -> tuple[dict[Any, Any], str]:
    """Front matter and body. Two lines of dashes around text are horizontal rules and belong to the body."""
    match = _FRONT_MATTER.match(text)
    fields = _fields(match["yaml"]) if match else None
    if match is None or fields is None:
        return {}, text.removeprefix("\ufeff")
    return fields, text[match.end() :]


def _fields(matter: str) -> dict[Any, Any] | None:
    if len(matter) > _MAX_FRONT_MATTER:
        raise ValidationError("knowledge.front_matter_too_long", limit=_MAX_FRONT_MATTER // 1024)
    if not matter.strip():
        return {}
    try:
        # The loader creates only texts, lists and mappings.
        fields = yaml.load(matter, _Loader)  # noqa: S506 # nosec B506
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise ValidationError("knowledge.front_matter_invalid", line=line) from error
    return fields if isinstance(fields, dict) else None


def _id_of(source: str) -> str:
    return f"k-{uuid5(NAMESPACE_URL, source).hex[:16]}"


def _text(fields: dict[Any, Any], name: str) -> str | None:
    """None for lists and mappings, which could expand to gigabytes through YAML aliases."""
    value = fields.get(name)
    return value if value and isinstance(value, str) else None


def _title(fields: dict[Any, Any], body: str, name: str) -> str:
    if title := _text(fields, "title"):
        return title
    heading = _HEADING.search(obsidian.prose(body))
    return heading["title"].rstrip(" \t#") or heading["title"][0] if heading else name


def _listed(fields: dict[Any, Any], *names: str) -> list[str]:
    """A list, or text separated by commas or spaces, as in Obsidian."""
    found: Any = next(filter(None, map(fields.get, names)), [])
    if isinstance(found, str):
        return [part for part in re.split(r"[,\s]+", found) if part]
    return [part for part in found if isinstance(part, str)] if isinstance(found, list) else []


def _is_ours(fields: dict[Any, Any]) -> bool:
    """Whether Chie has exported the file."""
    return fields.keys() >= _ALWAYS_WRITTEN and not fields.keys().isdisjoint(("origin", "author_kind"))


def _lines(fields: dict[Any, Any], name: str) -> list[str]:
    found = fields.get(name)
    return [line for line in found if isinstance(line, str)] if isinstance(found, list) else []


def _anchor(fields: dict[Any, Any]) -> Anchor | None:
    found = fields.get("anchor")
    if not isinstance(found, dict):
        return None
    repository, path = _text(found, "repository"), _text(found, "path")
    if not repository or not path:
        return None
    return Anchor(
        repository=repository,
        path=path,
        lines=_text(found, "lines"),
        commit=_text(found, "commit"),
        fingerprint=_text(found, "fingerprint"),
    )


def _is_true(fields: dict[Any, Any], name: str) -> bool:
    return (_text(fields, name) or "").lower() in ("true", "yes", "on")


def _origin(fields: dict[Any, Any]) -> NoteOrigin:
    """Older exports call it `author_kind`."""
    found = _text(fields, "origin") or _text(fields, "author_kind")
    return "assistant" if found == "agent" else next((one for one in get_args(NoteOrigin) if one == found), "import")


def _aliases(fields: dict[Any, Any]) -> list[str]:
    """A single alias may contain blanks and commas."""
    alias = _text(fields, "aliases") or _text(fields, "alias")
    return [alias] if alias else _listed(fields, "aliases", "alias")


def _with_inline(tags: list[str], inline: list[str]) -> list[str]:
    """As many of the tags in the text as a note may have; they must not make the file invalid."""
    space = max(MAX_TAGS - len(tags), 0)
    known = {tag.lstrip("#").casefold() for tag in tags}
    new = dict.fromkeys(tag for tag in inline if tag.casefold() not in known and len(tag) <= MAX_TAG)
    return [*tags, *list(new)[:space]]


def _moment(fields: dict[Any, Any], *names: str) -> datetime | None:
    """None also for a date that does not exist, in UTC or in its own time zone."""
    text = next(filter(None, (_text(fields, name) for name in names)), None)
    try:
        moment = _timestamp(text) if text else None
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _timestamp(text: str) -> datetime:
    """ISO 8601 or YAML's format: `2026-1-2`, `2026-01-02 3:04:05 +9`."""
    if not SafeConstructor.timestamp_regexp.match(text):
        return datetime.fromisoformat(text)
    value = SafeConstructor().construct_yaml_timestamp(ScalarNode("", text))
    return value if isinstance(value, datetime) else datetime.combine(value, time())
