"""The port to the table of spaces. `tests/contract/note_spaces.py` specifies what an adapter must do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from chie.errors import ConfigurationError
from chie.knowledge.note import TEAM
from chie.knowledge.spaces.space import TEAM_SPACE, Access, Space


class SpaceStore(ABC):
    """Notes and spaces are in one database, so that a space is never deleted under a note that is being saved."""

    @abstractmethod
    def all(self) -> Sequence[Space]:
        """By name; there is always `team`."""

    @abstractmethod
    def save(self, space: Space) -> None:
        """Add or replace the space with its grants."""

    @abstractmethod
    def grant(self, space: str, user_id: str, access: Access) -> bool:
        """Replace what a user may do, "none" to take it back; return whether the space exists."""

    @abstractmethod
    def delete(self, space: str) -> bool:
        """Delete a space without notes, and its grants and bindings; return False if it has notes."""

    @abstractmethod
    def repositories(self) -> dict[str, str]:
        """The space of each bound repository."""

    @abstractmethod
    def bind(self, repository: str, space: str | None) -> bool:
        """Bind a repository to a space, or to none; return whether the space exists."""


class TeamOnly(SpaceStore):
    """For a store that has no other space than `team`, in which everybody may write."""

    def all(self) -> list[Space]:
        return [TEAM_SPACE]

    def save(self, space: Space) -> None:
        if space != TEAM_SPACE:
            raise ConfigurationError("knowledge.spaces_unsupported")

    def grant(self, space: str, user_id: str, access: Access) -> bool:  # noqa: ARG002
        raise ConfigurationError("knowledge.spaces_unsupported")

    def delete(self, space: str) -> bool:  # noqa: ARG002
        return False

    def repositories(self) -> dict[str, str]:
        return {}

    def bind(self, repository: str, space: str | None) -> bool:  # noqa: ARG002
        if space not in (None, TEAM):
            raise ConfigurationError("knowledge.spaces_unsupported")
        return True
