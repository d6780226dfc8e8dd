"""What an agent is built from. Plug-ins get it too, so what they can build is what the house can."""

from collections.abc import Callable, Sequence

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.profile import Profile
from chie.chat.agents.tools import AgentTools
from chie.chat.models.endpoint import IN_FILE, Endpoint, Names
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox


class Workshop:
    """`rooms` are the house's own servers, which every agent uses that does not name others."""

    def __init__(self, settings: ChatSettings, toolbox: Toolbox, rooms: Sequence[str]) -> None:
        self.settings = settings
        self.toolbox = toolbox
        self.rooms = tuple(rooms)
        self._endpoints: dict[tuple[str, str | None], Endpoint] = {}

    def tools(self, profile: Profile) -> AgentTools:
        return AgentTools(
            toolbox=self.toolbox,
            servers=self.rooms if profile.servers is None else profile.servers,
            tools=profile.tools,
            approved=(*self.settings.chie_approved_tools, *profile.approved_tools),
            characters=self.settings.chie_tool_result_limit,
            needs=bool(profile.servers),
        )

    def endpoint(self, profile: Profile) -> Endpoint:
        """One for each address. The operator's key goes to the operator's address alone."""
        if profile.base_url:
            return self._shared(Endpoint(profile.base_url, profile.api_key, names=IN_FILE))
        if profile.api_key:
            names = Names(key=IN_FILE.key)
            return self._shared(Endpoint(self.settings.model_address, profile.api_key, names=names))
        common = self.settings.openai_api_key
        return self._shared(Endpoint(self.settings.model_address, common.get_secret_value() if common else None))

    def _shared(self, endpoint: Endpoint) -> Endpoint:
        return self._endpoints.setdefault((endpoint.address, endpoint.api_key), endpoint)


Maker = Callable[[Profile, Workshop], BaseAgent]
