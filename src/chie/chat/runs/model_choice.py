"""The model of a run: the one that the request names, or else the session's, or else the agent's own."""

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.calls import model_name
from chie.chat.agents.model_agent import ModelAgent
from chie.chat.models.catalogue import ModelCatalogue
from chie.chat.models.model_names import display_name
from chie.chat.models.model_parameters import accepted, require_accepted
from chie.chat.sessions.entities import ModelChoice
from chie.errors import ValidationError


class ModelChooser:
    def __init__(self, catalogue: ModelCatalogue) -> None:
        self._catalogue = catalogue

    async def choose(
        self, agent: BaseAgent, given: ModelChoice | None, stored: ModelChoice
    ) -> tuple[BaseAgent, ModelChoice | None]:
        """The agent with that model, and the choice to store; None if the agent's model cannot be chosen.

        Stored parameters that the model does not take are left out; given ones are refused by name.
        """
        if not isinstance(agent, ModelAgent):
            if given and (given.model or given.parameters):
                raise ValidationError("agents.model_fixed", agent=agent.name)
            return agent, None
        choice = given or stored
        model = await self._catalogue.model(choice.model) if choice.model else None
        chosen = agent.with_model(model, {})
        parameters = dict(choice.parameters)
        if given is None:
            parameters = accepted(parameters, chosen.model_parameters)
        else:
            require_accepted(parameters, chosen.model_parameters, model=display_name(chosen.model_name or "?"))
        chosen = agent.with_model(model, parameters)
        return chosen, ModelChoice(model=choice.model, parameters=parameters, name=model_name(chosen))
