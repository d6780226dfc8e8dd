"""The port to the table of spaces. `tests/contract/note_spaces.py` specifies what an adapter must do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from chie.errors import ConfigurationError
from chie.knowledge.note import TEAM
from chie.knowledge.spaces.space import TEAM_SPACE, Access, Contents, Space
from chie.knowledge.store.version_table import VersionTable


class SpaceStore(ABC):
    """Notes and spaces are in one database, so that a space is never deleted under a note that is being saved."""

    @abstractmethod
    def all(self) -> Sequence[Space]:
        """By name; there is always `team`."""

    @abstractmethod
    def save(self, space: Space) -> None:
        """Add or replace the space with its grants, as a copy."""

    @abstractmethod
    def add(self, name: str, *, title: str, everybody: Access) -> bool:
        """Add a space without grants; return False if there is one of this name."""

    @abstractmethod
    def change(self, name: str, *, title: str | None, everybody: Access | None) -> bool:
        """Replace these fields unless they are None, and nothing else; return whether the space exists."""

    @abstractmethod
    def grant(self, space: str, user_id: str, access: Access) -> bool:
        """Replace what a user may do, "none" to take it back; return whether the space exists."""

    @abstractmethod
    def delete(self, space: str, *, move_to: str | None = None) -> Contents | None:
        """Delete a space in which nothing is, and its grants and bindings; return what is in it if something is.
        Deleted notes and earlier versions are moved to another space, together with its deletion: a new space of the
        same name must not show them."""

    @abstractmethod
    def repositories(self) -> dict[str, str]:
        """The space of each bound repository."""

    @abstractmethod
    def bind(self, repository: str, space: str | None) -> bool:
        """Bind a repository to a space, or to none; return whether the space exists."""


def cleared(
    connection: Any,  # noqa: ANN401
    versions: VersionTable,
    space: str,
    move_to: str | None,
    *,
    notes: int,
) -> Contents | None:
    """In the transaction that deletes a space with so many notes: what keeps it from being deleted. If that is nothing,
    its versions have been moved."""
    if space != TEAM and not notes and move_to is not None:
        versions.move_space(connection, space, move_to)
        return None
    deleted, earlier = versions.in_space(connection, space)
    left = Contents(notes=notes, deleted=deleted, versions=earlier)
    return left if space == TEAM or left != Contents() else None


class TeamOnly(SpaceStore):
    """For a store that has no other space than `team`, in which everybody may write."""

    def all(self) -> list[Space]:
        return [TEAM_SPACE]

    def save(self, space: Space) -> None:
        if space != TEAM_SPACE:
            raise ConfigurationError("knowledge.spaces_unsupported")

    def add(self, name: str, *, title: str, everybody: Access) -> bool:  # noqa: ARG002
        raise ConfigurationError("knowledge.spaces_unsupported")

    def change(self, name: str, *, title: str | None, everybody: Access | None) -> bool:  # noqa: ARG002
        raise ConfigurationError("knowledge.spaces_unsupported")

    def grant(self, space: str, user_id: str, access: Access) -> bool:  # noqa: ARG002
        raise ConfigurationError("knowledge.spaces_unsupported")

    def delete(self, space: str, *, move_to: str | None = None) -> Contents | None:  # noqa: ARG002
        return Contents()

    def repositories(self) -> dict[str, str]:
        return {}

    def bind(self, repository: str, space: str | None) -> bool:  # noqa: ARG002
        if space not in (None, TEAM):
            raise ConfigurationError("knowledge.spaces_unsupported")
        return True
