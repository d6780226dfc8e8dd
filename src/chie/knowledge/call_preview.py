"""What a call of a writing tool would do to a note, in words. Notes that the user may not read stay unnamed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool

from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.mcp_kit.approval import CallPreview, FieldChange, shown_name, shown_value
from chie.mcp_kit.calls import PreviewMiddleware
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message

TEXTS = ("title", "content")
LISTS = {"tags": "tags", "questions": "questions", "errors": "signatures"}
LABELS = {
    "title": "knowledge.preview_title",
    "content": "knowledge.preview_content",
    "tags": "knowledge.preview_tags",
    "questions": "knowledge.preview_questions",
    "errors": "knowledge.preview_errors",
    "anchor": "knowledge.preview_anchor",
    "space": "knowledge.preview_space",
    "supersedes": "knowledge.preview_supersedes",
}
MARKS = {
    "helpful": ("knowledge.preview_mark_helpful", "knowledge.preview_also_helpful"),
    "wrong": ("knowledge.preview_mark_wrong", "knowledge.preview_also_wrong"),
}


def declare_previews(server: Server, service: KnowledgeService) -> None:
    async def describe(tool: str, arguments: Mapping[str, Any]) -> CallPreview | None:
        return await run_in_threadpool(preview, service, tool, arguments)

    server.add_middleware(PreviewMiddleware(describe))


def preview(service: KnowledgeService, tool: str, arguments: Mapping[str, Any]) -> CallPreview | None:
    if tool == "save_knowledge":
        return _saving(service, arguments)
    given = arguments.get("id")
    if tool not in ("delete_knowledge", "update_knowledge") or not isinstance(given, str):
        return None
    note = service.find(given.strip()) if given.isprintable() else None
    if note is None:
        return _of_unknown(tool, given)
    return _deletion(service, note) if tool == "delete_knowledge" else _update(service, note, arguments)


def _saving(service: KnowledgeService, arguments: Mapping[str, Any]) -> CallPreview:
    """`save_knowledge` waits for approval if it supersedes notes, which searches then leave out."""
    title = arguments.get("title") or str(arguments.get("content", "")).strip()[:60]
    summary = Message("knowledge.preview_save", title=shown_name(title))
    if not (hidden := arguments.get("supersedes")):
        return CallPreview(summary, "add")
    changes = [_change("supersedes", None, _names(service, hidden))]
    return CallPreview(summary, "change", [Message("knowledge.preview_hides")], changes)


def _of_unknown(tool: str, note_id: str) -> CallPreview:
    name = shown_name(note_id)
    if tool == "delete_knowledge":
        return CallPreview(Message("knowledge.preview_deletion_unknown", id=name), "delete")
    return CallPreview(Message("knowledge.preview_update_unknown", id=name), "change")


def _deletion(service: KnowledgeService, note: Note) -> CallPreview:
    """Vector Search has no trash."""
    kept = Message("knowledge.preview_trash", days=service.trash_days)
    loss = kept if service.store.keeps_versions else Message("knowledge.preview_no_trash")
    return CallPreview(Message("knowledge.preview_deletion", title=shown_name(note.title)), "delete", [loss])


def _update(service: KnowledgeService, note: Note, arguments: Mapping[str, Any]) -> CallPreview:
    title, changes = shown_name(note.title), list(_changes(service, note, arguments))
    alone, also = MARKS.get(str(arguments.get("mark")), ("", ""))
    if alone and not changes:
        return CallPreview(Message(alone, title=title), "change")
    notes = [Message(also)] if also else []
    if not set(arguments.get("supersedes") or ()) <= set(note.supersedes):
        notes.append(Message("knowledge.preview_hides"))
    if not changes:
        notes.append(Message("knowledge.preview_unchanged"))
    elif service.store.keeps_versions:
        notes.append(Message("knowledge.preview_versions"))
    return CallPreview(Message("knowledge.preview_update", title=title), "change", notes, changes)


def _changes(service: KnowledgeService, note: Note, arguments: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Null and a left out field keep what is stored."""
    for name in TEXTS:
        new = arguments.get(name)
        if isinstance(new, str) and new.strip() != getattr(note, name).strip():
            yield _change(name, getattr(note, name), new)
    for name, field in LISTS.items():
        new, old = arguments.get(name), getattr(note, field)
        if isinstance(new, list) and [str(one) for one in new] != list(old):
            yield _change(name, _lines(old), _lines(new))
    private = arguments.get("private")
    if isinstance(private, bool) and private != note.private:
        code = "knowledge.preview_private" if private else "knowledge.preview_shared"
        yield FieldChange(Message(code), None, None)
    space = arguments.get("space")
    if isinstance(space, str) and space.strip() != note.space:
        yield _change("space", note.space, space.strip())
    if arguments.get("anchor") is not None:
        yield _change("anchor", None, shown_value(arguments["anchor"]))
    replaced = arguments.get("supersedes")
    if isinstance(replaced, list) and replaced != note.supersedes:
        yield _change("supersedes", _names(service, note.supersedes), _names(service, replaced))


def _names(service: KnowledgeService, note_ids: Sequence[object]) -> str | None:
    return _lines([_name(service, one) for one in note_ids]) or None


def _name(service: KnowledgeService, note_id: object) -> str:
    """The title of a note that the user may read, otherwise its id."""
    given = str(note_id)
    note = service.find(given) if given.isprintable() else None
    return shown_name(note.title if note else given)


def _change(name: str, before: str | None, after: str | None) -> FieldChange:
    return FieldChange(Message(LABELS[name]), before, after)


def _lines(values: Sequence[object]) -> str:
    return "\n".join(map(str, values))
