"""/api/me, and signing in and out of the page."""

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chie.access.authentication import MAX_TOKEN_LENGTH, Authenticator
from chie.access.identity import User, user_in
from chie.access.middleware import COOKIE, failure_delay, too_many_requests
from chie.access.origin_check import require_same_origin
from chie.access.proxy import base_url
from chie.errors import AuthenticationError, ValidationError
from chie.http.openapi_errors import errors
from chie.http.responses import rejection
from chie.http.routing import Router

COOKIE_SECONDS = 30 * 24 * 3600
MAX_COOKIE_LENGTH = 3_800  # browsers silently drop longer ones


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    token: str = Field(min_length=1, max_length=MAX_TOKEN_LENGTH)


class Me(BaseModel):
    id: str
    admin: bool
    authentication: Literal["none", "required"] = Field(description="Whether requests need a token.")


def create_access_api(authenticator: Authenticator) -> APIRouter:
    router = Router(tags=["users"])

    @router.get("/api/me", responses=errors(401))
    async def who_am_i(request: Request) -> Me:
        """The authenticated user."""
        return _me(authenticator, user_in(request.scope))

    @router.post("/api/login", response_model=Me, responses=errors(401, 403, 413, 429))
    async def sign_in(body: Login, request: Request, response: Response) -> Any:  # noqa: ANN401
        """For browsers: stores the token in a cookie that scripts cannot read."""
        require_same_origin(request.scope, authenticator.proxy)
        try:
            user = await authenticator.user_of(body.token.strip())
        except AuthenticationError as error:
            if wait := failure_delay(authenticator, request.scope):
                return too_many_requests(request.scope, wait)
            return rejection(request.scope, 401, error.reason)
        if len(body.token) > MAX_COOKIE_LENGTH:
            raise ValidationError("access.token_too_long_for_cookie")
        response.set_cookie(COOKIE, body.token.strip(), **_attributes(request), max_age=COOKIE_SECONDS)
        return _me(authenticator, user)

    @router.post("/api/logout", status_code=204, responses=errors())
    async def sign_out(request: Request, response: Response) -> None:
        """Deletes the cookie; the token itself stays valid until it is revoked."""
        response.delete_cookie(COOKIE, **_attributes(request))

    return router


def _me(authenticator: Authenticator, user: User | None) -> Me:
    if user is None:
        raise AuthenticationError("access.not_signed_in")
    return Me(id=user.id, admin=user.admin, authentication="required" if authenticator.required else "none")


def _attributes(request: Request) -> dict[str, Any]:
    secure = base_url(request.scope).startswith("https:")
    return {"httponly": True, "samesite": "strict", "path": "/", "secure": secure}
