"""Starts runs: chooses the agent, stores the question, and hands both to the run manager."""

from collections.abc import Sequence

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.registry import AgentRegistry
from chie.chat.runs.manager import RunManager
from chie.chat.runs.run import Run
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.entities import Attachment
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
        attachments: AttachmentStore,
        agents: AgentRegistry,
        runs: RunManager,
        limits: UsageLimits,
    ) -> None:
        self._turns = turns
        self._attachments = attachments
        self._agents = agents
        self._runs = runs
        self._limits = limits

    async def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        parent_id: str | None = None,
        attachment_ids: Sequence[str] = (),
    ) -> Run:
        validate_question(message, has_files=bool(attachment_ids))
        agent = self._agents.get_agent(agent_id or await self._default_agent_id(session_id))
        await self._limits.require(agent)
        if attachment_ids:
            await self._require_able(agent, await self._attachments.get(attachment_ids))
        pending = await self._turns.ask(
            message,
            agent_id=agent.agent_id,
            session_id=session_id,
            parent_id=parent_id,
            attachment_ids=attachment_ids,
        )
        return self._runs.start(pending, agent)

    async def edit(
        self,
        message_id: str,
        message: str,
        *,
        agent_id: str | None = None,
        attachment_ids: Sequence[str] | None = None,
    ) -> Run:
        """Without `attachment_ids` the new question has the files of the old one."""
        agent = self._agents.get_agent(agent_id or await self._turns.message_agent_id(message_id))
        if attachment_ids is None:
            files = await self._turns.question_files(message_id)
        else:
            files = await self._attachments.get(attachment_ids)
        validate_question(message, has_files=bool(files))
        await self._limits.require(agent)
        await self._require_able(agent, files)
        pending = await self._turns.edit(message_id, message, agent_id=agent.agent_id, attachment_ids=attachment_ids)
        return self._runs.start(pending, agent)

    async def regenerate(self, message_id: str, *, agent_id: str | None = None) -> Run:
        agent = self._agents.get_agent(agent_id or await self._turns.message_agent_id(message_id))
        await self._limits.require(agent)
        await self._require_able(agent, await self._turns.question_files(message_id))
        return self._runs.start(await self._turns.regenerate(message_id, agent_id=agent.agent_id), agent)

    async def _default_agent_id(self, session_id: str | None) -> str:
        if session_id is None:
            return await self._agents.default_id()
        return await self._turns.session_agent_id(session_id)

    async def _require_able(self, agent: BaseAgent, files: Sequence[Attachment]) -> None:
        """Raises ValidationError, with an agent that can, where there is one."""
        if not files:
            return
        infos = await self._agents.list_agents()
        own = next(info for info in infos if info["agent_id"] == agent.agent_id)
        if any(file.kind == "document" for file in files) and not own["reads_documents"]:
            raise ValidationError("attachments.agent_cannot_read", agent=_name(own))
        if any(file.kind == "image" for file in files):
            _require_seeing(own, infos)

    async def require_seeing(self, agent: BaseAgent) -> None:
        """Raises ValidationError for an agent that sees no images."""
        infos = await self._agents.list_agents()
        _require_seeing(next(info for info in infos if info["agent_id"] == agent.agent_id), infos)


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
