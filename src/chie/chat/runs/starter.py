"""Starts runs: chooses the agent, stores the question, and hands both to the run manager."""

from chie.chat.agents.registry import AgentRegistry
from chie.chat.runs.manager import RunManager
from chie.chat.runs.run import Run
from chie.chat.sessions.turns import TurnService, validate_question


class RunStarter:
    """Without an `agent_id` the session's agent answers. An unknown agent stores nothing."""

    def __init__(self, turns: TurnService, agents: AgentRegistry, runs: RunManager) -> None:
        self._turns = turns
        self._agents = agents
        self._runs = runs

    async def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        parent_id: str | None = None,
    ) -> Run:
        validate_question(message)
        agent = self._agents.get_agent(agent_id or await self._default_agent_id(session_id))
        pending = await self._turns.ask(message, agent_id=agent.agent_id, session_id=session_id, parent_id=parent_id)
        return self._runs.start(pending, agent)

    async def edit(self, message_id: str, message: str, *, agent_id: str | None = None) -> Run:
        validate_question(message)
        agent = self._agents.get_agent(agent_id or await self._turns.message_agent_id(message_id))
        return self._runs.start(await self._turns.edit(message_id, message, agent_id=agent.agent_id), agent)

    async def regenerate(self, message_id: str, *, agent_id: str | None = None) -> Run:
        agent = self._agents.get_agent(agent_id or await self._turns.message_agent_id(message_id))
        return self._runs.start(await self._turns.regenerate(message_id, agent_id=agent.agent_id), agent)

    async def _default_agent_id(self, session_id: str | None) -> str:
        if session_id is None:
            return await self._agents.default_id()
        return await self._turns.session_agent_id(session_id)
