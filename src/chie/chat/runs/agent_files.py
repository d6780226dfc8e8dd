"""What an agent is given beside the messages: the files of a conversation, and its project."""

from collections.abc import Sequence

from chie.chat.agents.base import Attachment
from chie.chat.agents.files import MAX_IMAGES
from chie.chat.agents.project import ProjectContext
from chie.chat.projects.service import ProjectService
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.entities import Attachment as StoredAttachment
from chie.chat.sessions.entities import PendingAnswer


class AgentInputs:
    def __init__(self, attachments: AttachmentStore, projects: ProjectService) -> None:
        self._attachments = attachments
        self._projects = projects

    async def files(self, pending: PendingAnswer) -> list[list[Attachment]]:
        """Those of each message of the branch, and last those of the question."""
        return await load_files(
            self._attachments, [*(message.attachments for message in pending.history), pending.attachments]
        )

    async def project(self, pending: PendingAnswer) -> ProjectContext | None:
        return await self._projects.context(pending.project_id)


async def load_files(store: AttachmentStore, messages: Sequence[Sequence[StoredAttachment]]) -> list[list[Attachment]]:
    """The files of each message. Earlier images than the newest ones, which no model gets, are not loaded."""
    images = sum(file.kind == "image" for files in messages for file in files)
    loaded: list[list[Attachment]] = []
    for files in messages:
        loaded.append([])
        for file in files:
            loaded[-1].append(await _loaded(store, file, wanted=images <= MAX_IMAGES))
            images -= file.kind == "image"
    return loaded


async def _loaded(store: AttachmentStore, file: StoredAttachment, *, wanted: bool) -> Attachment:
    found = Attachment(name=file.name, media_type=file.media_type)
    if file.kind == "document":
        found["text"] = await store.text(file.attachment_id)
    elif wanted:
        found["data"] = await store.data(file.attachment_id)
    return found
