"""What a hook of an assistant's session leads to: notes for its context, a question at its end, or nothing."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from chie.access.identity import current_user
from chie.anchors.names import repository_name
from chie.errors import ConflictError, ValidationError
from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.anchors.validation import valid_anchor
from chie.knowledge.history.versions import kind_of
from chie.knowledge.note import TEAM, Note, now
from chie.knowledge.recall.context import context
from chie.knowledge.recall.recall import Policy, Recall, Recalled
from chie.knowledge.recall.session_memory import Session, SessionMemory
from chie.knowledge.screening.secrets import find_secrets
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.spaces import Spaces
from chie.knowledge.usefulness.usefulness import Usefulness
from chie.knowledge.validation import MAX_ERRORS
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Language, Message
from chie.unicode import clean_json

FORGET_AFTER = timedelta(days=7)
MAX_SAVE_ATTEMPTS = 3
MAX_RESPONSE_DEPTH = 8
ASKED = ""  # in the place of a note's id: the session was asked to save its finding
SAVE_TOOLS = ("save_knowledge", "update_knowledge")
READ_TOOL = "get_knowledge"
FILE_TOOLS = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit")


@dataclass(frozen=True)
class Event:
    """A hook's body as Claude Code sends it; unknown fields are ignored and missing ones empty."""

    name: str
    session: str
    folder: str = ""
    prompt: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    response: Any = None
    error: str = ""
    interrupted: bool = False
    stopping: bool = False  # the session goes on because a hook has asked it to
    remote: str = ""
    anchor: Anchor | None = None  # of the note that was saved, which the client has found in its files

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> "Event":
        body = clean_json(dict(sent))
        arguments = body.get("tool_input")
        return cls(
            name=_text(body, "hook_event_name"),
            session=_text(body, "session_id")[:200],
            folder=_text(body, "cwd"),
            prompt=_text(body, "prompt"),
            tool=_text(body, "tool_name"),
            arguments=arguments if isinstance(arguments, dict) else {},
            response=body.get("tool_response"),
            error=_text(body, "error"),
            interrupted=body.get("is_interrupt") is True,
            stopping=body.get("stop_hook_active") is True,
            remote=_text(body, "git_remote"),
            anchor=_anchor(body.get("code_anchor")),
        )

    def argument(self, name: str) -> str:
        return _text(self.arguments, name)


@dataclass(frozen=True)
class Reply:
    """`context` is for the model, which takes one more turn for that of a `Stop`, and `receipt` for the user."""

    context: str = ""
    receipt: str = ""


SILENCE = Reply()


class Hooks:
    def __init__(
        self,
        service: KnowledgeService,
        *,
        policy: Policy = "confirmed",
        clock: Callable[[], datetime] = now,
        usefulness: Usefulness | None = None,
    ) -> None:
        self._service = service
        self._usefulness = usefulness or Usefulness(service)
        self._store = service.store
        self._recall = Recall(service.store, policy)
        self._spaces = Spaces(service)
        self._sessions = SessionMemory()
        self._clock = clock
        self._last_calls: dict[str, datetime] = {}
        self._events: dict[str, Callable[[Event, Session, str], Reply]] = {
            "SessionStart": self._start,
            "UserPromptSubmit": self._prompt,
            "PreToolUse": self._before_tool,
            "PostToolUse": self._after_tool,
            "PostToolUseFailure": self._failure,
            "Stop": self._stop,
            "SessionEnd": self._end,
        }

    def last_call(self) -> datetime | None:
        """Of the current user, since this process started."""
        return self._last_calls.get(current_user().id)

    def handle(self, event: Event, *, base_url: str) -> Reply:
        self._last_calls[current_user().id] = self._clock()
        act = self._events.get(event.name)
        if act is None or not event.session:
            return SILENCE
        session = self._sessions.get(_key(event))
        session.space = self._spaces.space_of(event.remote, event.folder) or session.space
        return act(event, session, base_url)

    def _viewer(self, session: Session) -> Viewer:
        """In a repository that is bound to a space, notes of that space and of the team, but of no other."""
        viewer = self._service.viewer()
        return viewer.within([session.space, TEAM]) if session.space else viewer

    def _start(self, event: Event, session: Session, _: str) -> Reply:
        session.repository = repository_name(event.remote) if event.remote else ""
        viewer = self._viewer(session)
        project = project_name(event)
        known = self._store.count_sources(project, viewer=viewer) if project else 0
        message = Message("knowledge.memory_connected", notes=self._store.count(viewer=viewer), known=known)
        bound = f" {Message('knowledge.memory_space', space=session.space)}" if session.space else ""
        return Reply(context=f"{message}{bound}")

    def _prompt(self, event: Event, session: Session, base_url: str) -> Reply:
        session.prompt(event.prompt)
        if event.prompt.lstrip().startswith("/"):
            return SILENCE
        viewer = self._viewer(session)
        return self._show(
            event, session, base_url, lambda shown: self._recall.for_prompt(event.prompt, viewer, without=shown)
        )

    def _before_tool(self, event: Event, session: Session, base_url: str) -> Reply:
        path = event.argument("file_path") or event.argument("notebook_path")
        if event.tool not in FILE_TOOLS or not path:
            return SILENCE
        viewer = self._viewer(session)
        return self._show(
            event,
            session,
            base_url,
            lambda shown: self._recall.for_file(path, event.folder, viewer, session.repository, without=shown),
        )

    def _after_tool(self, event: Event, session: Session, _: str) -> Reply:
        if event.tool.endswith(SAVE_TOOLS):
            self._saved(event, session)
        elif event.tool.endswith(READ_TOOL):
            self._followed(event)
        elif command := event.argument("command"):
            session.succeeded(command)
        return SILENCE

    def _failure(self, event: Event, session: Session, base_url: str) -> Reply:
        command = event.argument("command")
        if event.interrupted or not command:
            return SILENCE
        session.failed(command, event.error)
        viewer = self._viewer(session)
        return self._show(
            event,
            session,
            base_url,
            lambda shown: self._recall.for_failure(command, event.error, viewer, without=shown),
        )

    def _stop(self, event: Event, session: Session, _: str) -> Reply:
        """Ask once a session, and only if there was something to find out and nothing has been saved."""
        if event.stopping or session.asked or session.saved or not session.has_finding:
            return SILENCE
        session.asked = True
        if ASKED in self._store.shown(_key(event)):
            return SILENCE
        self._remember(event, [ASKED])
        language = _language(session)  # a decision to block would be shown as an error of the hook
        question, receipt = Message("knowledge.capture_question"), Message("knowledge.capture_receipt")
        return Reply(context=question.text(language), receipt=receipt.text(language))

    def _end(self, event: Event, _: Session, __: str) -> Reply:
        self._sessions.end(_key(event))
        return SILENCE

    def _show(
        self, event: Event, session: Session, base_url: str, find: Callable[[set[str]], Sequence[Recalled]]
    ) -> Reply:
        """What the session has seen or saved itself is not shown."""
        recalled = find(self._store.shown(_key(event)) | session.saved)
        if not recalled:
            return SILENCE
        ids = [one.note.id for one in recalled]
        self._remember(event, ids)
        self._usefulness.count("recalled", ids)
        receipt = Message("knowledge.recall_receipt", count=len(recalled)).text(_language(session))
        anchored = [one.note.id for one in recalled if one.note.anchor]
        reports = self._store.anchor_reports(anchored) if anchored else {}
        shown = context(recalled, reports, base_url=base_url, moment=self._clock())
        return Reply(context=shown, receipt=receipt)

    def _remember(self, event: Event, notes: Sequence[str]) -> None:
        moment = self._clock()
        self._store.remember_shown(_key(event), notes, at=moment, forget_before=moment - FORGET_AFTER)

    def _followed(self, event: Event) -> None:
        """Count a note that the session was shown and then read."""
        note_id = event.argument("id")
        if note_id in self._store.shown(_key(event)) and self._service.find(note_id):
            self._usefulness.count("followed", [note_id])

    def _saved(self, event: Event, session: Session) -> None:
        """A note that was saved after a failure was solved knows that failure from now on. One that names no space goes
        to that of the repository. Anybody can report a call, so a note that the user may not change stays as it is."""
        note_id = saved_id(event.response)
        if note_id is None:
            return
        session.saved.add(note_id)
        solved = [signature for signature in session.solved if not find_secrets(signature)]
        unplaced = event.tool.endswith(SAVE_TOOLS[0]) and not event.argument("space")
        session.forget_solved()
        for _ in range(MAX_SAVE_ATTEMPTS):  # a client may send the same call from two hooks at once
            note = self._service.find(note_id)
            if note is None or note.user_id != current_user().id or note.space not in self._service.viewer().writable:
                return
            changed = _with_anchor(_with_finding(note, solved, asked=session.asked), event.anchor)
            changed = replace(changed, space=self._space_for(note, session)) if unplaced else changed
            if changed == note:
                return
            with suppress(ConflictError):
                self._store.save(changed, replacing=note, change=self._service.change(kind_of(note, changed)))
                return

    def _space_for(self, note: Note, session: Session) -> str:
        writable = self._service.viewer().writable
        return session.space if session.space and {session.space, note.space} <= writable else note.space


def _with_finding(note: Note, solved: Sequence[str], *, asked: bool) -> Note:
    signatures = list(dict.fromkeys([*note.signatures, *solved]))[:MAX_ERRORS]
    origin = "hook" if asked and note.origin == "assistant" else note.origin
    return replace(note, signatures=signatures, origin=origin)


def _with_anchor(note: Note, found: Anchor | None) -> Note:
    """What the client found completes what the note says of itself, and never contradicts it."""
    given = note.anchor
    if found is None or (given and (given.path, given.lines) != (found.path, found.lines)):
        return note
    commit = given.commit if given and given.commit else found.commit
    return replace(note, anchor=replace(found, commit=commit))


def _anchor(found: Any) -> Anchor | None:  # noqa: ANN401 - whatever the client sends
    if not isinstance(found, dict):
        return None
    fields = {name: _text(found, name) for name in ("repository", "path", "lines", "commit", "fingerprint")}
    try:
        return valid_anchor(Anchor(**fields))
    except ValidationError:
        return None


def project_name(event: Event) -> str:
    """`owner/name` of the repository, or the name of the folder, as sources of notes contain it."""
    parts = [part for part in repository_name(event.remote).split("/") if part]
    return "/".join(parts[-2:]) or event.folder.replace("\\", "/").rstrip("/").rpartition("/")[2]


def saved_id(response: Any, depth: int = 0) -> str | None:  # noqa: ANN401 - whatever the client reports
    """The id in the result of `save_knowledge`: a client sends it as JSON text, as an object or as content blocks."""
    if isinstance(response, str):
        response = _json(response)
    if isinstance(response, dict):
        found = response.get("id")
        if isinstance(found, str) and "updated_at" in response:
            return found
        response = [response.get(key) for key in ("structuredContent", "content", "text")]
    if not isinstance(response, list) or depth == MAX_RESPONSE_DEPTH:
        return None
    return next(filter(None, (saved_id(part, depth + 1) for part in response)), None)


def _json(text: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


def _key(event: Event) -> str:
    return f"{current_user().id} {event.session}"


def _language(session: Session) -> Language:
    return "ja" if session.japanese else "en"


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
