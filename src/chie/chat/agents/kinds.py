"""The kinds of agent that the house brings along, and those that it finds installed."""

import logging
from importlib.metadata import EntryPoint, entry_points

from chie.chat.agents.aws import DEFAULT_MODEL, AWSAgent
from chie.chat.agents.base import BaseAgent
from chie.chat.agents.broken import BrokenAgent
from chie.chat.agents.default import DefaultAgent
from chie.chat.agents.dependencies import Maker, Workshop
from chie.chat.agents.notes import NotesAgent
from chie.chat.agents.openai import OpenAIAgent
from chie.chat.agents.profile import Profile
from chie.chat.models.bedrock import BedrockModel
from chie.chat.models.openai import OpenAIModel
from chie.errors import ConfigurationError

logger = logging.getLogger(__name__)

GROUP = "chie.agents"


def make_default(profile: Profile, workshop: Workshop) -> BaseAgent:
    return DefaultAgent(profile, _openai_model(profile, workshop))


def make_openai(profile: Profile, workshop: Workshop) -> BaseAgent:
    rounds = workshop.settings.chie_tool_rounds
    return OpenAIAgent(profile, _openai_model(profile, workshop), workshop.tools(profile), rounds=rounds)


def make_aws(profile: Profile, workshop: Workshop) -> BaseAgent:
    settings = workshop.settings
    chosen = profile.model or settings.chie_aws_model
    model = BedrockModel(
        chosen or DEFAULT_MODEL,
        region=settings.aws_region,
        profile=settings.aws_profile,
        seconds=settings.chie_model_timeout,
    )
    rounds, configured = settings.chie_tool_rounds, chosen is not None or settings.aws_profile is not None
    return AWSAgent(profile, model, workshop.tools(profile), rounds=rounds, configured=configured)


def make_notes(profile: Profile, workshop: Workshop) -> BaseAgent:
    return NotesAgent(profile, workshop.toolbox)


def _openai_model(profile: Profile, workshop: Workshop) -> OpenAIModel:
    settings = workshop.settings
    model = profile.model if profile.base_url else profile.model or settings.chie_model
    return OpenAIModel(workshop.endpoint(profile), model, seconds=settings.chie_model_timeout)


BUILT_IN: dict[str, Maker] = {
    "default": make_default,
    "openai": make_openai,
    "aws": make_aws,
    "notes": make_notes,
}


def installed_kinds() -> dict[str, Maker]:
    """Plug-ins by the name of their entry point, which is their kind and the id of the agent they bring."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: _plug_in(point) for point in found if point.name not in BUILT_IN}


def _plug_in(point: EntryPoint) -> Maker:
    def make(profile: Profile, workshop: Workshop) -> BaseAgent:
        try:
            agent: BaseAgent = point.load()(profile, workshop)
        except ConfigurationError as error:
            return BrokenAgent(profile, error.message)
        except Exception as error:
            logger.exception("the plug-in %s cannot be used", point.value)
            reason = f"The plug-in {point.value} failed to load ({type(error).__name__}). Update or remove its package."
            return BrokenAgent(profile, reason)
        return agent

    return make
