"""The bodies of requests and responses about projects and shared conversations."""

from typing import Annotated

from pydantic import BaseModel, Field, StrictBool

from chie.chat.api.schemas import Body, Id
from chie.chat.projects.entities import Member, Project, Role
from chie.chat.projects.service import MAX_INSTRUCTIONS, MAX_NAME
from chie.chat.sharing.entities import ProjectShare, Share

Name = Annotated[str, Field(max_length=MAX_NAME * 4)]
Instructions = Annotated[
    str, Field(max_length=MAX_INSTRUCTIONS, description="Added to the system prompt of every agent in the project.")
]
Space = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$", description="The space of notes that tools use.")]


class NewProject(Body):
    name: Name
    instructions: Instructions = ""
    agent_id: Id | None = Field(default=None, description="The agent that answers in new conversations.")
    space: Space | None = None


class ProjectChange(Body):
    name: Name | None = None
    instructions: Instructions | None = None
    agent_id: Id | None = None
    space: Space | None = None
    archived: StrictBool | None = None


class RoleBody(Body):
    role: Role


class ProjectList(BaseModel):
    projects: list[Project]


class Members(BaseModel):
    members: list[Member]


class ProjectShares(BaseModel):
    shares: list[ProjectShare]


class NewShare(Body):
    message_id: Id | None = Field(
        default=None, description="The last message to share, with the branch before it. Default: the newest message."
    )
    with_project: StrictBool = Field(
        default=False, description="Share with the members of the conversation's project, and with nobody else."
    )


class Shares(BaseModel):
    shares: list[Share]
