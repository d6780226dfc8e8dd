"""The part of the toolbox that one agent may use."""

from dataclasses import dataclass

from chie.chat.toolbox.servers_file import how_to_get
from chie.chat.toolbox.tool import Toolset
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.wrappers import Allowed, Approved, Budgeted


@dataclass(frozen=True, kw_only=True)
class AgentTools:
    """`servers` are used as far as they can be had; an agent that `needs` them makes no sense without any."""

    toolbox: Toolbox
    servers: tuple[str, ...]
    tools: tuple[str, ...] = ("*",)
    approved: tuple[str, ...] = ()
    characters: int = 20_000
    needs: bool = False

    async def open(self) -> Toolset:
        await self.toolbox.initialize_servers(self.servers)
        offered = self.toolbox.toolset(self.servers)
        return Budgeted(Approved(Allowed(offered, self.tools), self.approved), self.characters)

    def notice(self) -> str:
        """For the model's eyes: what it lacks at the moment."""
        away = [state.name for state in self.toolbox.states() if state.name in self.servers and state.is_away]
        if not away:
            return ""
        return (
            f"These tool servers are not available now: {', '.join(away)}. If the question needs them, say so plainly; "
            "the page of servers tells the user why."
        )

    def missing(self) -> str | None:
        """For people's eyes: what to set before the agent can be used."""
        states = {state.name: state for state in self.toolbox.states()}
        known = [states[name] for name in self.servers if name in states]
        if not self.needs or not all(state.is_away for state in known):
            return None
        return next((state.error for state in known), None) or how_to_get(self.servers)
