"""The columns of the security matrix: who may do it, which check decides a race, and what bounds the work.

The rows are in `routes.py` and `tools.py`; `docs/security-matrix.md` shows them.
"""

from dataclasses import dataclass, field
from typing import Any

PUBLIC = "public"  # needs no token, and has no team data
SHARED = "shared"  # the same for every user
PRIVATE = "private"  # about one thing: that of another user is not found
LISTING = "listing"  # about many: those of other users are not listed


@dataclass(frozen=True)
class Race:
    """What decides if two users do it at once, or a second process does, or the caller is cut off; and its proof."""

    decides: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A route. One that only reads has no race; `bound` is what the app's own schema does not say."""

    kind: str
    race: Race | None = None
    bound: str = ""
    admins: bool = False
    body: dict[str, Any] | None = None
    query: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCase:
    """A tool. One that its annotations call read-only has no race."""

    outcome: str
    arguments: dict[str, Any] = field(default_factory=dict)
    race: Race | None = None
    bound: str = ""


AT_ONCE = "security/test_races.py"

ADDS = Race("each call adds a thing of its own", (f"{AT_ONCE}::test_writes_at_once_all_succeed",))
SETS = Race("sets one value in one statement: the last one counts", (f"{AT_ONCE}::test_writes_at_once_all_succeed",))
ONCE = Race(
    "one transaction takes it: the second finds nothing, or is told what has changed",
    (f"{AT_ONCE}::test_only_one_of_several_at_once_succeeds",),
)
STORES_NOTHING = Race("stores nothing", ())
SAVES = Race(
    "a new id, in one transaction", ("knowledge/test_processes.py::test_two_processes_that_save_at_once_lose_nothing",)
)
SEEN_VERSION = Race(
    "the version that was seen: the second gets 409",
    (
        "knowledge/test_api.py::test_update_of_an_outdated_version_is_a_conflict",
        "contract/note_store.py::test_saving_over_another_version_is_a_conflict_and_changes_nothing",
        "contract/note_safety.py::test_two_processes_that_change_one_note_lose_no_version",
    ),
)
MERGED = Race(
    "the stored version: a change that comes between is read again, at most three times",
    (
        "knowledge/test_service.py::test_update_retries_after_a_conflict",
        "knowledge/postgres/test_server.py::test_one_of_several_concurrent_updates_succeeds",
    ),
)
UNIQUE_ID = Race(
    "the id is unique, also among deleted notes: the second gets 409",
    (
        "contract/note_store.py::test_saving_over_another_version_is_a_conflict_and_changes_nothing",
        "security/test_trash.py::test_a_deletion_and_a_claim_at_once_leave_the_note_its_authors",
    ),
)
DELETES = Race(
    "one transaction moves it to the trash, where it stays its author's",
    (
        "knowledge/test_service_rules.py::test_concurrently_deleted_note_is_not_found",
        "security/test_trash.py::test_a_deletion_and_a_claim_at_once_leave_the_note_its_authors",
    ),
)
MOVES_NOTES = Race(
    "rounds, until nothing is in it; the space goes in the transaction that finds it empty",
    ("security/test_deleted_spaces.py::test_no_note_is_lost_that_is_saved_while_its_space_is_deleted",),
)
SPACES = Race(
    "one transaction: a grant is changed by nothing but a grant",
    ("security/test_deleted_spaces.py::test_a_revoked_grant_stays_revoked_while_the_space_is_renamed",),
)
OWN_TRANSACTION = Race(
    "one writer, one transaction, which checks the owner; of a cut-off caller all of it is made",
    (
        "security/test_changes_at_once.py::test_changes_that_share_a_transaction_do_not_share_a_user",
        "chat/sessions/test_database.py::test_change_of_a_cancelled_caller_is_made",
    ),
)
ONE_ANSWER = Race(
    "one answer to a question at a time: another is 409; the server finishes it without the caller",
    (
        "chat/runs/test_remote.py::test_concurrent_questions_in_two_processes_do_not_fork_a_session",
        "chat/api/test_branches.py::test_second_edit_or_regeneration_at_once_is_409",
        "chat/runs/test_remote.py::test_owner_that_lost_its_lease_cannot_finish_the_answer",
    ),
)
DECIDED_ONCE = Race(
    "the run decides, in whichever process it is: a second decision is 409",
    (
        "chat/api/test_approval.py::test_unknown_call_is_404_and_a_second_decision_is_409",
        "chat/api/test_elicitation.py::test_another_process_takes_the_answer_to_the_run",
    ),
)
SENT_ONCE = Race(
    "the message leaves the queue in the transaction that asks it",
    (
        "chat/api/test_queue.py::test_two_tabs_and_the_server_send_it_once",
        "chat/api/test_queue.py::test_repeated_request_queues_and_sends_once",
    ),
)
FILES = Race(
    "a file's row is locked while something refers to it",
    (
        "chat/api/test_attachments.py::test_files_survive_uploads_and_deletions_at_once",
        "chat/api/test_attachments.py::test_content_is_stored_once",
    ),
)
IMPORTS = Race(
    "only what is new is added, one conversation in a transaction",
    ("chat/imports/test_imports.py::test_second_import_adds_only_new_messages",),
)
IMPORTS_NOTES = Race(
    "each note by the version that is stored; an unchanged file writes nothing",
    (
        "knowledge/test_service.py::test_importing_a_note_twice_changes_nothing",
        "knowledge/postgres/test_server.py::test_one_of_several_concurrent_updates_succeeds",
    ),
)
CONFIGURES = Race(
    "the name is unique; of two changes the last one counts", (f"{AT_ONCE}::test_admins_add_one_of_a_name",)
)
CHANGES_WORKFLOW = Race(
    "one change of a workflow at a time in a process; `versionId` against others (409); a backup before each",
    (
        "n8n/test_saving.py::test_concurrent_changes_are_all_kept",
        "n8n/test_saving.py::test_change_of_an_older_version_is_a_conflict",
        "n8n/test_client.py::test_writes_are_never_sent_twice",
    ),
)
WRITES_TO_N8N = Race("a write is never sent twice", ("n8n/test_client.py::test_writes_are_never_sent_twice",))
REHEARSES = Race(
    "in a copy of its own, which is deleted also if the caller is cut off",
    ("n8n/test_rehearsal_copies.py::test_cancelled_rehearsal_leaves_no_copy",),
)
LOGS_IN = Race(
    "one row for user and server; a state serves one user, once",
    ("chat/toolbox/test_oauth.py::test_state_is_for_one_user_and_for_one_time",),
)
RECALLS = Race(
    "the key of session and note: what is shown is shown once",
    ("contract/note_recall.py::test_what_a_session_was_shown_is_remembered_for_a_while",),
)
REVIEWS = Race(
    "the versions that were seen: an undo is 409 if a note has changed since",
    (
        "knowledge/review/test_review.py::test_undo_keeps_what_somebody_wrote_since",
        "knowledge/review/test_review.py::test_an_interrupted_merge_changes_nothing",
    ),
)
CALLS_TOOL = Race(
    "as the tool below",
    ("security/test_every_tool.py::test_ticket_is_valid_for_one_call_in_the_process",),
)
