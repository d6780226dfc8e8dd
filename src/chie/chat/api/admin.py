"""Routes for admins only. Without authentication the operator is the only user, and an admin."""

from typing import Annotated

from fastapi import Depends

from chie.access.identity import User, current_user, known_user
from chie.errors import ForbiddenError


async def require_admin() -> User:
    user = known_user()
    if not user.admin:
        raise ForbiddenError("endpoints.admin_needed")
    return user


async def whether_admin() -> bool:
    return current_user().admin


Admin = Annotated[User, Depends(require_admin)]
IsAdmin = Annotated[bool, Depends(whether_admin)]
