"""Starts runs: chooses the agent, stores the question, and hands both to the run manager."""

import asyncio
from collections.abc import Awaitable, Sequence

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.model_agent import ModelAgent
from chie.chat.agents.registry import AgentRegistry
from chie.chat.projects.service import ProjectService
from chie.chat.runs.manager import RunManager
from chie.chat.runs.model_choice import ModelChooser
from chie.chat.runs.run import Run
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.entities import Attachment, ModelChoice, PendingAnswer, QueuedMessage
from chie.chat.sessions.queue import MessageQueue
from chie.chat.sessions.turns import TurnService, validate_question
from chie.chat.usage.limits import UsageLimits
from chie.errors import ValidationError
from chie.messages.catalogue import Message


class RunStarter:
    """Without an `agent_id` the session's agent answers. An unknown agent, one that cannot take the files of the
    question, or a reached limit stores nothing."""

    def __init__(
        self,
        turns: TurnService,
        queue: MessageQueue,
        attachments: AttachmentStore,
        projects: ProjectService,
        agents: AgentRegistry,
        runs: RunManager,
        limits: UsageLimits,
    ) -> None:
        self._turns = turns
        self._queue = queue
        self._attachments = attachments
        self._projects = projects
        self._agents = agents
        self._runs = runs
        self._models = ModelChooser(agents.catalogue)
        self._limits = limits

    async def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        parent_id: str | None = None,
        attachment_ids: Sequence[str] = (),
        choice: ModelChoice | None = None,
        project_id: str | None = None,
    ) -> Run:
        """Without `choice` the session's model answers. A new session is in the project, whose agent answers unless
        another one is named."""
        validate_question(message, has_files=bool(attachment_ids))
        if project_id is not None and session_id is not None:
            raise ValidationError("projects.new_session_only")
        session = await self._turns.session(session_id) if session_id and not (agent_id and choice) else None
        named = await self.agent(agent_id or (session.current_agent_id if session else None), project_id=project_id)
        agent, chosen = await self._models.choose(named, choice, session.choice if session else ModelChoice())
        await self._limits.require(agent)
        if attachment_ids:
            await self._require_able(agent, await self._attachments.get(attachment_ids))
        asked = self._turns.ask(
            message,
            agent_id=agent.agent_id,
            session_id=session_id,
            parent_id=parent_id,
            attachment_ids=attachment_ids,
            choice=chosen,
            project_id=project_id,
        )
        pending = await self._stored(asked)
        return self._runs.start(pending, agent)

    async def edit(
        self,
        message_id: str,
        message: str,
        *,
        agent_id: str | None = None,
        attachment_ids: Sequence[str] | None = None,
        choice: ModelChoice | None = None,
    ) -> Run:
        """Without `attachment_ids` the new question has the files of the old one."""
        agent, chosen = await self._again(message_id, agent_id, choice)
        if attachment_ids is None:
            files = await self._turns.question_files(message_id)
        else:
            files = await self._attachments.get(attachment_ids)
        validate_question(message, has_files=bool(files))
        await self._limits.require(agent)
        await self._require_able(agent, files)
        edited = self._turns.edit(
            message_id, message, agent_id=agent.agent_id, attachment_ids=attachment_ids, choice=chosen
        )
        pending = await self._stored(edited)
        return self._runs.start(pending, agent)

    async def regenerate(
        self,
        message_id: str,
        *,
        agent_id: str | None = None,
        choice: ModelChoice | None = None,
        beside: bool = False,
    ) -> Run:
        """`beside` does not wait for the answer that is being generated."""
        agent, chosen = await self._again(message_id, agent_id, choice)
        await self._limits.require(agent)
        await self._require_able(agent, await self._turns.question_files(message_id))
        again = self._turns.regenerate(message_id, agent_id=agent.agent_id, choice=chosen, beside=beside)
        pending = await self._stored(again)
        return self._runs.start(pending, agent)

    async def agent(self, agent_id: str | None, *, project_id: str | None = None) -> BaseAgent:
        """The named agent, or else that of the project, or the default. NotFoundError for a project of others."""
        preferred = (await self._projects.get(project_id)).agent_id if project_id is not None else None
        if agent_id is None and preferred is not None:
            known = {info["agent_id"] for info in await self._agents.list_agents()}
            agent_id = preferred if preferred in known else None  # it may have been removed since
        return self._agents.get_agent(agent_id or await self._agents.default_id())

    async def _again(
        self, message_id: str, agent_id: str | None, choice: ModelChoice | None
    ) -> tuple[BaseAgent, ModelChoice | None]:
        session = await self._turns.session_of(message_id)
        agent = self._agents.get_agent(agent_id or session.current_agent_id)
        return await self._models.choose(agent, choice, session.choice)

    async def send_queued(self, queued: QueuedMessage) -> Run:
        """NotFoundError if it has been sent or removed. Without an agent of its own the session's agent answers."""
        session = await self._turns.session(queued.session_id)
        named = self._agents.get_agent(queued.agent_id or session.current_agent_id)
        agent, chosen = await self._models.choose(named, None, session.choice)
        await self._limits.require(agent)
        await self._require_able(agent, queued.attachments)
        taken = self._queue.take(queued.session_id, queued.message_id, agent_id=agent.agent_id, choice=chosen)
        pending = await self._stored(taken)
        return self._runs.start(pending, agent)

    async def _stored(self, storing: Awaitable[PendingAnswer]) -> PendingAnswer:
        """Meanwhile reads which servers admins have added, so that the run does not wait for it."""
        refreshing = asyncio.create_task(self._agents.toolbox.refresh(), name="added-servers")
        try:
            return await storing
        finally:
            if not refreshing.done():
                await asyncio.wait({refreshing})

    async def _require_able(self, agent: BaseAgent, files: Sequence[Attachment]) -> None:
        """Raises ValidationError, with an agent that can, where there is one."""
        if not files:
            return
        infos = await self._agents.list_agents()
        own = _with_own_sight(agent, infos)
        if any(file.kind == "document" for file in files) and not own["reads_documents"]:
            raise ValidationError("attachments.agent_cannot_read", agent=_name(own))
        if any(file.kind == "image" for file in files):
            _require_seeing(own, infos)

    async def require_seeing(self, agent: BaseAgent) -> None:
        """Raises ValidationError for an agent that sees no images."""
        infos = await self._agents.list_agents()
        _require_seeing(_with_own_sight(agent, infos), infos)


def _with_own_sight(agent: BaseAgent, infos: Sequence[AgentInfo]) -> AgentInfo:
    """The agent's description. Whether it sees images depends on the model that was chosen for it."""
    own = next(info for info in infos if info["agent_id"] == agent.agent_id)
    return AgentInfo(**{**own, "sees_images": agent.sees_images}) if isinstance(agent, ModelAgent) else own


def _require_seeing(own: AgentInfo, infos: Sequence[AgentInfo]) -> None:
    if own["sees_images"]:
        return
    seeing = next((info for info in infos if info["available"] and info["sees_images"]), None)
    if seeing is None:
        raise ValidationError("attachments.nobody_sees", agent=_name(own))
    raise ValidationError("attachments.agent_cannot_see", agent=_name(own), other=_name(seeing))


def _name(info: AgentInfo) -> str | Message:
    code = info["name_code"]
    return Message(code, **(info["name_params"] or {})) if code else info["name"]
