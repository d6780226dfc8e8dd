"""Projects, their members and their files, as the rest of the chat sees them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from chie.chat.sessions.entities import Attachment

Role = Literal["owner", "editor", "viewer"]
RANK: dict[str, int] = {"viewer": 0, "editor": 1, "owner": 2}


@dataclass(frozen=True, kw_only=True)
class Project:
    """`role` is the current user's: viewers use the project, editors change it, owners also manage its members."""

    project_id: str
    name: str
    instructions: str
    agent_id: str | None
    space: str | None
    created_at: datetime
    updated_at: datetime
    archived: bool
    role: Role


@dataclass(frozen=True, kw_only=True)
class Member:
    user_id: str
    role: Role


@dataclass(frozen=True, kw_only=True)
class ProjectDetails(Project):
    """`conversations` counts those of the current user."""

    files: list[Attachment]
    members: list[Member]
    conversations: int
