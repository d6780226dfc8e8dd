"""Use cases of notes: permissions, timestamps, conflicts and what "not found" means."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import ConflictError, NotFoundError, ValidationError
from chie.knowledge import ownership, rules, validation
from chie.knowledge.anchors.anchor import Anchor, AnchorReport, followed, permalink_anchor
from chie.knowledge.anchors.validation import valid_anchor
from chie.knowledge.history import supersession
from chie.knowledge.history.as_of import SearchAsOf, parse_moment
from chie.knowledge.history.versions import Change, ChangeKind, is_new_version, kind_of
from chie.knowledge.links.rename import renamed_links
from chie.knowledge.note import (
    AuthorCount,
    Found,
    Hit,
    ImportedFile,
    Note,
    NoteLink,
    NoteOrigin,
    Page,
    Saved,
    Similar,
    TagCount,
    new_id,
    now,
)
from chie.knowledge.review.unanswered import remember_unanswered
from chie.knowledge.screening.screen import SecretPolicy, screened
from chie.knowledge.search.query import parse
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message

MAX_SIMILAR = 3
MAX_RELATED = 5
RELATED_QUERY_LENGTH = 400  # characters of the content that describe its topic
MIN_RELATED_SCORE = 0.35  # notes with a lower score share words, not a topic
MAX_UPDATE_ATTEMPTS = 3
DEFAULT_TRASH_DAYS = 30
PURGE_INTERVAL = timedelta(hours=1)

ImportOutcome = Literal["saved", "unchanged", "newer"]


class KnowledgeService:
    def __init__(
        self, store: NoteStore, *, clock: Callable[[], datetime] = now, trash_days: int = DEFAULT_TRASH_DAYS
    ) -> None:
        self.store = store
        self.trash_days = trash_days
        self._clock = clock
        self._purged_at: datetime | None = None

    def viewer(self) -> Viewer:
        return rules.current_viewer(self.store)

    def save(  # noqa: PLR0913 - the fields of a note
        self,
        content: str,
        *,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
        space: str | None = None,
        private: bool = False,
        proposal: bool = False,
        questions: Sequence[str] | None = None,
        errors: Sequence[str] | None = None,
        anchor: Anchor | None = None,
        supersedes: Sequence[str] | None = None,
        origin: NoteOrigin = "assistant",
        secrets: SecretPolicy = "refuse",
    ) -> Saved:
        """`errors` are lines of errors that the note explains. What a person writes is confirmed by them. A source that
        is a link to lines of a commit is the note's anchor too."""
        content = validation.valid_content(content)
        user, viewer = known_user(), self.viewer()
        moment = self._clock()
        note = Note(
            id=new_id(),
            title=validation.valid_title(title, content),
            content=content,
            tags=validation.valid_tags(tags),
            source=validation.valid_source(source),
            user_id=user.id,
            origin=origin,
            space=rules.chosen_space(viewer, space),
            private=private,
            proposal=proposal,
            questions=validation.valid_questions(questions),
            signatures=validation.valid_errors(errors),
            confirmed_by=user.id if origin == "person" else None,
            confirmed_at=moment if origin == "person" else None,
            anchor=valid_anchor(anchor or permalink_anchor(source)),
            created_at=moment,
            updated_at=moment,
        )
        note = self._superseding(screened(note, secrets), supersedes)
        similar = self.store.similar(note, limit=MAX_SIMILAR, viewer=viewer)
        notice = self.store.save(note)
        record("note.created", note.id)
        self._empty_trash(moment)
        return saved_note(note, similar=similar, notice=notice, version=1 if self.store.keeps_versions else None)

    def update(  # noqa: PLR0913 - the fields of a note
        self,
        note_id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        private: bool | None = None,
        space: str | None = None,
        questions: Sequence[str] | None = None,
        errors: Sequence[str] | None = None,
        anchor: Anchor | None = None,
        supersedes: Sequence[str] | None = None,
        absorbing: Note | None = None,
        seen: datetime | None = None,
        by: NoteOrigin = "assistant",
        secrets: SecretPolicy = "refuse",
    ) -> Saved:
        """Change only the given fields, and delete the note that it is `absorbing` with them. A concurrent change is
        merged by starting again from the new version, unless the caller passes the `updated_at` that it has `seen`:
        then it is a conflict. A person's change confirms the note, and an assistant's change of the text needs to be
        confirmed again.
        """
        given = (content, title, tags, private, space, questions, errors, anchor, supersedes)
        if all(field is None for field in given):
            raise ValidationError("knowledge.nothing_to_change")
        if absorbing and absorbing.id == note_id.strip():
            raise ValidationError("knowledge.merge_into_itself")
        for attempt in range(MAX_UPDATE_ATTEMPTS):
            stored, viewer = self.get(note_id), self.viewer()
            rules.require_permission(stored, viewer, private=private)
            rules.require_version(stored, seen)
            note = validation.changed(
                stored,
                content=content,
                title=title,
                tags=tags,
                questions=questions,
                errors=errors,
                anchor=anchor,
                moment=self.next_version(stored),
            )
            note = rules.confirmation_after(stored, note, by)
            note = note if private is None else replace(note, private=private)
            note = note if space is None else replace(note, space=rules.chosen_space(viewer, space))
            older = supersession.newly_superseded(self.store, stored, supersedes)  # read before it is checked
            note = self._superseding(screened(note, secrets, stored=stored), supersedes)
            if not is_new_version(stored, note):  # the date says since when the note says what it says
                note = replace(note, updated_at=stored.updated_at)
            last = attempt == MAX_UPDATE_ATTEMPTS - 1
            # Links to a former title lead to the note too, so the last attempt leaves them as they are.
            linking = [] if last else renamed_links(self.store, viewer, stored, note, self.next_version)
            absorbed = [absorbing] if absorbing else []
            linking = [(before, after) for before, after in linking if before not in absorbed]
            older = [one for one in older if one not in (*absorbed, *(before for before, _ in linking))]
            try:
                saved = self.replace(
                    stored,
                    note,
                    kind=kind_of(stored, note),
                    together_with=linking,
                    deleting=absorbed,
                    unchanged=older,
                )
            except ConflictError:
                if last:
                    raise
            else:
                for changed in (note, *(other for _, other in linking)):
                    record("note.changed", changed.id)
                for deleted in absorbed:
                    record("note.deleted", deleted.id)
                return saved
        raise AssertionError("unreachable")

    def replace(
        self,
        stored: Note,
        note: Note,
        *,
        kind: ChangeKind = "changed",
        together_with: Sequence[tuple[Note, Note]] = (),
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),
    ) -> Saved:
        """The number of the new version is certain, because the stored note must not have changed meanwhile.
        `together_with` and `deleting` are changes of other notes, which are made with this one or not at all, and
        neither if notes that must be `unchanged` are not."""
        version = self.store.version_number(stored.id)
        change = self.change(kind)
        if together_with or deleting or unchanged:
            replacements = [(stored, note), *together_with]
            notice = self.store.replace_all(replacements, change=change, deleting=deleting, unchanged=unchanged)
        else:
            notice = self.store.save(note, replacing=stored, change=change)
        self._purged_at = None if deleting else self._purged_at
        self._empty_trash(change.at)
        return saved_note(note, notice=notice, version=version and version + is_new_version(stored, note))

    def change(self, kind: ChangeKind = "changed") -> Change:
        """By the current user, now."""
        return Change(kind=kind, by=current_user().id, at=self._clock())

    def trash_begins(self) -> datetime:
        """Notes that were deleted earlier are gone for good."""
        return self._clock() - timedelta(days=self.trash_days)

    def _empty_trash(self, moment: datetime) -> None:
        """Once an hour, with a write that happens anyway."""
        if self._purged_at is None or not timedelta() <= moment - self._purged_at < PURGE_INTERVAL:
            more = self.store.purge_deleted(moment - timedelta(days=self.trash_days))
            self._purged_at = None if more else moment

    def _superseding(self, note: Note, ids: Sequence[str] | None) -> Note:
        if ids is None:
            return note
        return replace(note, supersedes=supersession.valid_supersedes(self.store, self.viewer(), note, ids))

    def superseded_by(self, note_id: str) -> list[NoteLink]:
        """The notes that supersede this one."""
        return supersession.newer_notes(self.store, self.viewer(), [note_id]).get(note_id, [])

    def supersedes(self, note: Note) -> list[NoteLink]:
        return supersession.older_notes(self.store, self.viewer(), note)

    def next_version(self, stored: Note) -> datetime:
        """Later than the stored version even if the clock was set back or an imported file has a date in the future."""
        return max(self._clock(), rules.following(stored))

    def get(self, note_id: str) -> Note:
        note_id = validation.required_id(note_id)
        # PostgreSQL and UTF-8 cannot represent the rest.
        note = self.find(note_id) if validation.is_plain(note_id) else None
        if note is None:
            raise NotFoundError("knowledge.note_not_found")
        return note

    def find(self, note_id: str) -> Note | None:
        """None also for another user's private note, so that its existence does not leak."""
        note = self.store.get(note_id)
        return note if note is not None and self.viewer().sees(note) else None

    def delete(self, note_id: str, *, seen: datetime | None = None) -> Note:
        """Move the note to the trash and return it as it is there. A concurrent change is deleted too if the user may,
        unless the caller passes the `updated_at` that it has `seen`: then it is a conflict."""
        for last in (*[False] * (MAX_UPDATE_ATTEMPTS - 1), True):
            note = self.get(note_id)
            rules.require_permission(note, self.viewer())
            rules.require_version(note, seen)
            try:
                self.remove(note)
            except ConflictError:
                if last:
                    raise
            else:
                record("note.deleted", note.id)
                return note
        raise AssertionError("unreachable")

    def remove(self, note: Note) -> None:
        """Move the note to the trash, from which the oldest ones are removed for good. ConflictError if the stored note
        differs from this one."""
        change = self.change("deleted")
        if not self.store.delete(note.id, expected=note, change=change):
            raise NotFoundError("knowledge.note_not_found")
        self._purged_at = None
        self._empty_trash(change.at)

    def browse(
        self, *, tag: str | None = None, space: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page:
        tag, limit = validation.valid_tag(tag or "") or None, validation.valid_limit(limit)
        viewer = rules.looking_into(self.viewer(), [space] if space else ())
        return self.store.browse(tag=tag, limit=limit, cursor=cursor or None, viewer=viewer)

    def tags(self) -> Sequence[TagCount]:
        return self.store.tags(viewer=self.viewer())

    def authors(self) -> Sequence[AuthorCount]:
        return self.store.authors(viewer=self.viewer())

    def count(self) -> int:
        """The number of notes visible to the current user."""
        return self.store.count(viewer=self.viewer())

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        tags: Sequence[str] | None = None,
        space: str | None = None,
        at: str | None = None,
    ) -> Found:
        """The query may have filters (`query.py`). If it has nothing else, the newest notes that pass are listed. With
        `at`, here or as a filter, what was known on that date. Superseded notes are left out unless nothing else
        fits."""
        parsed, limit = parse(validation.valid_query(query)), validation.valid_limit(limit)
        tags = validation.valid_tags([*(tags or ()), *parsed.tags])
        viewer = rules.looking_into(self.viewer(), [*parsed.spaces, *([space] if space else ())])
        if (moment := parsed.at if at is None else at) is not None:
            at_moment = parse_moment(moment)
            then = SearchAsOf(self.store, viewer, parsed, tags, at_moment, trash_begins=self.trash_begins())
            return supersession.search_current(then.search, then.newer, limit)

        def search(size: int) -> Found:
            return self.store.search(parsed.text, limit=size, tags=tags, filters=parsed.filters, viewer=viewer)

        newer = partial(supersession.newer_notes, self.store, viewer)
        found = supersession.search_current(search, newer, limit)
        if not any(hit.confident for hit in found.hits):
            remember_unanswered(self.store.records, parsed.text, self._clock())
        return replace(found, hits=self._with_reports(found.hits))

    def anchor_report(self, note: Note) -> AnchorReport | None:
        """What has become of the code that a note is about, if somebody has checked."""
        return self.store.anchor_reports([note.id]).get(note.id) if note.anchor else None

    def _with_reports(self, hits: list[Hit]) -> list[Hit]:
        anchored = [hit.id for hit in hits if hit.anchor]
        reports = self.store.anchor_reports(anchored) if anchored else {}
        return [replace(hit, anchor_report=reports[hit.id]) if hit.id in reports else hit for hit in hits]

    def import_note(self, note: Note, *, overwrite: bool = False) -> ImportOutcome:
        """Store a note with its id and dates. A stored note that was changed later is "newer" and left alone, because
        its author would lose the change without notice.
        """
        return self.import_file(note, overwrite=overwrite)[0]

    def import_file(
        self,
        note: Note,
        *,
        fingerprint: str | None = None,
        previous: ImportedFile | None = None,
        overwrite: bool = False,
        dry_run: bool = False,
        secrets: SecretPolicy = "refuse",
        first_line: int = 1,
    ) -> tuple[ImportOutcome, datetime]:
        """As `import_note`, with the fingerprint of the note's file and the `previous` import of the note: then dates
        decide only if both the file and the note have changed since. Returns the note's version after this import."""
        viewer = self.viewer()
        stored = ownership.stored_note(self.store, viewer, note.id)
        note = ownership.owned(self.store, viewer, note, stored)
        note = screened(note, secrets, stored=stored, first_line=first_line)
        if stored == note:
            return "unchanged", note.updated_at
        rules.require_write(viewer, note.space)
        if stored is not None:
            rules.require_permission(stored, viewer, private=note.private)
            if not overwrite:
                if rules.keeps(stored, note, fingerprint, previous):
                    if rules.differs_only_in_dates(stored, note) or (
                        previous and not rules.is_edited(stored, previous)
                    ):
                        return "unchanged", stored.updated_at
                    return "newer", previous.version if previous else note.updated_at
                if previous:  # the file may have an older date than the version that it replaces
                    note = replace(note, updated_at=max(note.updated_at, rules.following(stored)))
            if note.updated_at == stored.updated_at and is_new_version(stored, note):
                # An edited export has the date of its note, by which readers tell whether the note has changed.
                note = replace(note, updated_at=rules.following(stored))
        if not dry_run:
            self.store.save(note, replacing=stored, change=self.change())
            record("note.imported", note.id)
        return "saved", note.updated_at

    def may_use_id(self, note_id: str, author: str) -> bool:
        return ownership.may_use_id(self.store, note_id, author)

    def imported_files(self) -> dict[str, ImportedFile]:
        """Where the current user's notes were imported from, by note id."""
        return self.store.imported_files(user_id=current_user().id)

    def restore(self, note: Note, *, secrets: SecretPolicy = "refuse") -> Note:
        """Restore a deleted note with its id and dates; ConflictError if the id is in use."""
        viewer = self.viewer()
        # Not left to the store: a note that is deleted meanwhile would return with this text in its author's name.
        if ownership.stored_note(self.store, viewer, note.id):
            raise ConflictError("knowledge.note_exists")
        note = screened(ownership.owned(self.store, viewer, note, None), secrets)
        rules.require_write(viewer, note.space)
        self.store.save(note, change=self.change())  # also if it has been purged: the caller knows its text
        record("note.restored", note.id)
        return note

    def confirm(self, note_id: str, *, confirmed: bool = True, seen: datetime | None = None) -> Note:
        """Say, as a person, that a note is right, or take that back. This is no change of the note. If its code has
        changed, the note is right about the code as it is now: the anchor follows it. ConflictError if the note has
        changed since the caller has `seen` it."""
        stored = self.get(note_id)
        user = known_user()
        rules.require_write(self.viewer(), stored.space)
        rules.require_version(stored, seen)
        who, when = (user.id, self._clock()) if confirmed else (None, None)
        note = replace(stored, confirmed_by=who, confirmed_at=when)
        report = self.anchor_report(stored) if confirmed else None
        if report and stored.anchor:
            note = replace(note, anchor=followed(stored.anchor, report))
        self.store.save(note, replacing=stored, change=self.change())
        if report and note.anchor and note.anchor != stored.anchor:
            fresh = replace(report, state="fresh", detail="same", changed=0.0, reported_by=user.id)
            self.store.report_anchors({note.id: (note.anchor, replace(fresh, reported_at=self._clock()))})
        record("note.confirmed" if confirmed else "note.unconfirmed", note.id)
        return note

    def related(self, note_id: str, *, limit: int = MAX_RELATED) -> list[Hit]:
        """Other notes on the same topic."""
        note = self.get(note_id)
        query = f"{note.title}\n{note.content[:RELATED_QUERY_LENGTH]}"
        found = self.store.search(query, limit=validation.valid_limit(limit) + 1, tags=(), viewer=self.viewer())
        return [hit for hit in found.hits if hit.id != note.id and hit.score >= MIN_RELATED_SCORE][:limit]


def saved_note(
    note: Note, *, version: int | None, similar: Sequence[Similar] = (), notice: Message | None = None
) -> Saved:
    return Saved(
        id=note.id,
        title=note.title,
        tags=note.tags,
        user_id=note.user_id,
        space=note.space,
        private=note.private,
        created_at=note.created_at,
        updated_at=note.updated_at,
        version=version,
        similar=list(similar),
        notice=notice,
    )
