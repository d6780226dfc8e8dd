"""/api/me, and signing in and out of the page."""

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chie.access.authentication import LONGEST_TOKEN, Authenticator
from chie.access.identity import User
from chie.access.middleware import COOKIE, TOO_OFTEN, base_url, failed_too_often, refusal, refuse_foreign, user_in
from chie.errors import AuthenticationError, ValidationError
from chie.http.openapi_errors import errors

THIRTY_DAYS = 30 * 24 * 3600
LONGEST_COOKIE = 3_800  # browsers drop longer ones without a word


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    token: str = Field(min_length=1, max_length=LONGEST_TOKEN)


class Me(BaseModel):
    id: str
    admin: bool
    authentication: Literal["none", "required"] = Field(description="Whether the house asks who somebody is.")


def create_access_api(authenticator: Authenticator) -> APIRouter:
    router = APIRouter(tags=["users"])

    @router.get("/api/me", responses=errors(401))
    async def who_am_i(request: Request) -> Me:
        """Who the house takes you for."""
        return _me(authenticator, user_in(request.scope))

    @router.post("/api/login", response_model=Me, responses=errors(401, 403, 413, 429))
    async def sign_in(body: Login, request: Request, response: Response) -> Any:  # noqa: ANN401
        """For browsers: the token goes into a cookie that no script can read."""
        refuse_foreign(request.scope, authenticator.proxy.origins)
        try:
            user = await authenticator.user_of(body.token.strip())
        except AuthenticationError as error:
            if wait := failed_too_often(authenticator, request.scope):
                return refusal(request.scope, 429, TOO_OFTEN, {"Retry-After": str(wait)})
            return refusal(request.scope, 401, error.message)
        if len(body.token) > LONGEST_COOKIE:
            raise ValidationError("this token is too long for a browser's cookie. Sign in with one of `chie users`.")
        response.set_cookie(COOKIE, body.token.strip(), **_attributes(request), max_age=THIRTY_DAYS)
        return _me(authenticator, user)

    @router.post("/api/logout", status_code=204, responses=errors())
    async def sign_out(request: Request, response: Response) -> None:
        """Forgets the cookie; the token itself stays valid until it is revoked."""
        response.delete_cookie(COOKIE, **_attributes(request))

    return router


def _me(authenticator: Authenticator, user: User | None) -> Me:
    if user is None:
        raise AuthenticationError("who are you? Sign in first.")
    return Me(id=user.id, admin=user.admin, authentication="required" if authenticator.required else "none")


def _attributes(request: Request) -> dict[str, Any]:
    secure = base_url(request.scope).startswith("https:")
    return {"httponly": True, "samesite": "strict", "path": "/", "secure": secure}
