"""Agents from installed packages, found through the entry point group `chie.agents`."""

import inspect
import logging
from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.dependencies import AgentBuilder, AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.agents.unavailable import UnavailableAgent
from chie.errors import ConfigurationError
from chie.messages.catalogue import Message

logger = logging.getLogger(__name__)

GROUP = "chie.agents"


def _create(target: Callable[..., BaseAgent], profile: Profile, dependencies: AgentDependencies) -> BaseAgent:
    """A target without parameters, such as a class without a constructor, is called without arguments."""
    return target(profile, dependencies) if inspect.signature(target).parameters else target()


def find_plugins(reserved: Collection[str]) -> dict[str, AgentBuilder]:
    """Builders by entry point name, which is their kind and the id of their agent. `reserved` names are ignored."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: _builder(point) for point in found if point.name not in reserved}


def _builder(point: EntryPoint) -> AgentBuilder:
    """A plug-in that fails is listed as unavailable and does not stop the others."""

    def build(profile: Profile, dependencies: AgentDependencies) -> BaseAgent:
        try:
            agent = _create(point.load(), profile, dependencies)
        except ConfigurationError as error:
            return UnavailableAgent(profile, error.reason)
        except Exception as error:
            logger.exception("plug-in %s failed to load", point.value)
            reason = Message("agents.plugin_failed", plugin=point.value, error=type(error).__name__)
            return UnavailableAgent(profile, reason)
        return agent

    return build
