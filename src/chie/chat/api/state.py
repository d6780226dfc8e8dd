"""The objects behind the routes: built by `ChatModule`, opened when the app starts."""

import asyncio
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from sqlalchemy import URL

from chie import background
from chie.chat.agents.registry import AgentRegistry
from chie.chat.endpoints.service import StoredEndpoints
from chie.chat.metrics import Metrics
from chie.chat.projects.files import ProjectFiles
from chie.chat.projects.service import ProjectService
from chie.chat.runs.agent_files import AgentInputs
from chie.chat.runs.cleanup import CleanUp
from chie.chat.runs.command_queue import CommandQueue
from chie.chat.runs.lease import new_owner
from chie.chat.runs.lease_keeper import LeaseKeeper
from chie.chat.runs.listener import Listener
from chie.chat.runs.manager import RunManager
from chie.chat.runs.notifier import Notifier
from chie.chat.runs.queue_sender import QueueSender
from chie.chat.runs.recovery import Recovery
from chie.chat.runs.remote import RemoteRuns
from chie.chat.runs.runner import Runner
from chie.chat.runs.saver import SAVE_SECONDS
from chie.chat.runs.starter import RunStarter
from chie.chat.runs.titles import Titles
from chie.chat.sessions.added_servers import AddedServerStore
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.database import Database
from chie.chat.sessions.endpoints import EndpointStore
from chie.chat.sessions.logins import LoginStore
from chie.chat.sessions.marks import MarkStore
from chie.chat.sessions.prompts import PromptStore
from chie.chat.sessions.queue import MessageQueue
from chie.chat.sessions.secret_box import SecretBox
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.titles import TitleStore
from chie.chat.sessions.turns import TurnService
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import Limit
from chie.chat.sharing.service import SharingService
from chie.chat.toolbox.wrappers import possible_names
from chie.chat.usage.limits import UsageLimits
from chie.chat.usage.prices import PriceTable
from chie.chat.usage.recorder import UsageRecorder
from chie.chat.usage.report import UsageReports
from chie.documents.reader import DocumentReader

if TYPE_CHECKING:
    from chie.chat.imports.importer import Importer


class Chat:
    """A database that cannot be opened at startup is tried again by every request."""

    def __init__(
        self,
        agents: AgentRegistry,
        url: URL,
        *,
        home: Path,
        save_seconds: float = SAVE_SECONDS,
        max_characters: int,
        titles: bool = True,
        prices: PriceTable | None = None,
        limits: Mapping[str, Limit] = MappingProxyType({}),
    ) -> None:
        self._url = url
        self._database = database = Database(url)
        self._notifier = notifier = Notifier()
        owner = new_owner()
        self.agents = agents
        self.metrics = Metrics(self._tool_names)
        self.sessions = SessionService(database)
        self.marks = MarkStore(database)
        self.attachments = AttachmentStore(database)
        self.prompts = PromptStore(database)
        self.projects = ProjectService(database)
        self.project_files = ProjectFiles(database, self.attachments)
        self.sharing = SharingService(database)
        self.reader = DocumentReader()
        self.usage = UsageStore(database)
        self.limits = UsageLimits(self.usage, user=limits.get("user", Limit()), team=limits.get("team", Limit()))
        self.reports = UsageReports(self.usage)
        self.recorder = UsageRecorder(self.usage, prices or PriceTable(), self.metrics)
        self.answers = AnswerStore(database, owner)
        self.recovery = Recovery(database, owner)
        self._queue = CommandQueue(database)
        self.runs = RunManager(
            self.answers,
            self._queue,
            notifier,
            RemoteRuns(self.answers, self._queue, notifier, self.recovery),
            Runner(
                self.answers,
                self.metrics,
                AgentInputs(self.attachments, self.projects),
                self.recorder,
                self.recovery,
                max_characters=max_characters,
            ),
            owner=owner,
            save_seconds=save_seconds,
            titles=Titles(TitleStore(database), self.recorder) if titles else None,
        )
        box = SecretBox(home)
        agents.toolbox.logins.use(LoginStore(database, box))
        agents.toolbox.added.use(AddedServerStore(database, box))
        self.endpoints = StoredEndpoints()
        self.endpoints.use(EndpointStore(database, box))
        agents.catalogue.use(self.endpoints.specs)
        turns = TurnService(database, owner)
        self.queue = MessageQueue(database, turns)
        self.starter = RunStarter(turns, self.queue, self.attachments, self.projects, agents, self.runs, self.limits)
        self.queue_sender = QueueSender(self.queue, self.starter, self.runs)
        self._keeper = LeaseKeeper(self.answers, self.runs, self.recovery)
        self._clean_up = CleanUp(
            {
                "old commands": self._queue.delete_old,
                "unsent attachments": self.attachments.delete_unsent,
                "old usage records": self.usage.forget_old_records,
            }
        )
        self._opening = asyncio.Lock()
        self._background: list[asyncio.Task[None]] = []

    def _tool_names(self) -> set[str]:
        offered = ((server["name"], tool["name"]) for server in self.agents.server_states() for tool in server["tools"])
        return set().union(*(possible_names(server, tool) for server, tool in offered))

    @cached_property
    def importer(self) -> "Importer":
        """Loaded on first use: few users ever import conversations."""
        from chie.chat.imports.importer import Importer

        return Importer(self._database)

    @property
    def is_open(self) -> bool:
        return bool(self._background)

    async def open(self) -> None:
        async with self._opening:
            if self.is_open:
                return
            await asyncio.to_thread(upgrade, self._url)
            await self._keeper.recover()
            self._background = [
                background.start(self._keeper.keep, "chat-lease-keeper"),
                background.start(Listener(self._database, self._notifier).listen, "chat-listener"),
                background.start(self.queue_sender.send_overdue, "chat-queue"),
                background.start(self._clean_up.repeat, "chat-clean-up"),
            ]

    async def close(self) -> None:
        await self.runs.close()
        await self.queue_sender.close()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._background = []
        self.reader.close()
        await self._database.close()


async def get_chat(request: Request) -> Chat:
    chat: Chat = request.app.state.chat
    if not chat.is_open:
        await chat.open()
    return chat


ChatState = Annotated[Chat, Depends(get_chat)]
