"""HTTP API of spaces, part of `/api/knowledge`. Changing them is for admins."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from chie.http.openapi_errors import errors
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Access
from chie.knowledge.spaces.spaces import SeenSpace, Spaces

Name = Annotated[str, Path(description="Lower-case letters, digits and `-`.")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class SpaceChange(Body):
    title: str | None = None
    everybody: Access | None = Field(default=None, description="What every user may do in the space.")


class Grant(Body):
    access: Access = Field(description="`none` takes a grant back.")


class Binding(Body):
    repository: str = Field(description="A URL of the repository, or `host/owner/name`.")
    space: str | None = Field(description="null to bind it to none.")


class SpaceList(BaseModel):
    spaces: list[SeenSpace]


class Moved(BaseModel):
    moved: int = Field(description="Number of notes that were moved.")


class BoundRepository(BaseModel):
    repository: str
    space: str


class RepositoryList(BaseModel):
    repositories: list[BoundRepository]


def declare_spaces(router: APIRouter, service: KnowledgeService) -> None:
    """Before the routes of single notes, whose ids would match these paths."""
    spaces = Spaces(service)

    @router.get("/spaces", responses=errors())
    def list_spaces() -> SpaceList:
        """The spaces that you may read; admins see who else may."""
        return SpaceList(spaces=spaces.list())

    @router.put("/spaces/{name}", responses=errors(403))
    def save_space(name: Name, body: SpaceChange) -> SpaceList:
        """Make a space, or change its title and what everybody may do in it."""
        spaces.save(name, title=body.title, everybody=body.everybody)
        return SpaceList(spaces=spaces.list())

    @router.delete("/spaces/{name}", responses=errors(403, 404, 409))
    def delete_space(
        name: Name,
        move_to: Annotated[
            str | None, Query(description="The space that takes its notes, trash and earlier versions.")
        ] = None,
    ) -> Moved:
        """Delete a space in which nothing is, or whose notes, trash and earlier versions are moved to another one."""
        return Moved(moved=spaces.delete(name, move_to=move_to))

    @router.put("/spaces/{name}/users/{user}", responses=errors(403, 404))
    def grant_access(name: Name, user: str, body: Grant) -> SpaceList:
        """Say what one user may do in the space."""
        spaces.grant(name, user, body.access)
        return SpaceList(spaces=spaces.list())

    @router.get("/repositories", responses=errors())
    def list_repositories() -> RepositoryList:
        """The repositories that are bound to spaces that you may read."""
        return _listed(spaces)

    @router.put("/repositories", responses=errors(403, 404))
    def bind_repository(body: Binding) -> RepositoryList:
        """Bind a repository to a space: sessions in it recall and save there."""
        spaces.bind(body.repository, body.space)
        return _listed(spaces)


def _listed(spaces: Spaces) -> RepositoryList:
    found = spaces.repositories().items()
    return RepositoryList(repositories=[BoundRepository(repository=name, space=space) for name, space in found])
