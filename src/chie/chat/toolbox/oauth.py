"""OAuth 2.1 at remote MCP servers, with the SDK: discovery, registration, authorization code with PKCE, and refresh.

The SDK runs a login as one coroutine that waits for the user. Here it has two halves, because the user may come back to
another process: `start` ends with the URL of the provider, `finish` exchanges the code.
"""

import logging
import secrets
from time import time
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode, urljoin, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import PKCEParameters
from mcp.client.auth.utils import issuers_match, validate_authorization_response_iss
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl
from pydantic import ValidationError as SchemaError

from chie.chat.toolbox.checked_transport import CheckedTransport, RefusedUrlError
from chie.chat.toolbox.logins import Login, UserLogin
from chie.chat.toolbox.message_limits import create_http_client
from chie.errors import AuthenticationError, ChieError, ConflictError, ServiceError
from chie.web_fetch.url_policy import UrlPolicy

if TYPE_CHECKING:
    from chie.chat.toolbox.servers_file import ServerSpec

CLIENT_NAME = "Chie"
BAD_REQUEST = 400
TIMEOUT = httpx2.Timeout(20.0)
PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SDK_ERRORS = (OAuthFlowError, OAuthRegistrationError, OAuthTokenError, SchemaError, httpx2.HTTPError, OSError)

logging.getLogger("mcp.client.auth.oauth2").setLevel(logging.CRITICAL)  # it logs stacks, and bodies of the provider
logger = logging.getLogger(__name__)


class LoginRequiredError(AuthenticationError):
    """The server wants a login that the user has not made, or that has ended."""


class _RedirectNeeded(Exception):  # noqa: N818 - control flow: the SDK's generator has no other way out
    def __init__(self, url: str, state: str, verifier: str) -> None:
        super().__init__("the user must go to the provider")
        self.url, self.state, self.verifier = url, state, verifier


class _Storage:
    """The SDK's port to storage, on a login."""

    def __init__(self, user_login: UserLogin, login: Login) -> None:
        self._user_login = user_login
        self.login = login

    async def get_tokens(self) -> OAuthToken | None:
        return OAuthToken.model_validate(self.login.tokens) if self.login.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.login.tokens = tokens.model_dump(mode="json", exclude_none=True)
        self.login.expires_at = None if tokens.expires_in is None else time() + tokens.expires_in
        self.login.verifier = None
        await self._user_login.save(self.login)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return OAuthClientInformationFull.model_validate(self.login.client) if self.login.client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.login.client = client_info.model_dump(mode="json", exclude_none=True)

    async def reload(self) -> bool:
        """Whether another process has stored other tokens."""
        stored = await self._user_login.load()
        if stored is None or stored.tokens == self.login.tokens:
            return False
        self.login = stored
        return True


class _Issuer(str):
    """An issuer that equals itself with a slash: servers that write their metadata with Pydantic add one."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and issuers_match(str(self), other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class _Provider(OAuthClientProvider):
    """The SDK's provider with what was discovered before, so that a refresh needs no new discovery."""

    def __init__(
        self, storage: _Storage, metadata: OAuthClientMetadata, client_metadata_url: str | None = None
    ) -> None:
        super().__init__(storage.login.url, metadata, storage, client_metadata_url=client_metadata_url)
        self._storage = storage

    async def _initialize(self) -> None:
        await super()._initialize()
        login = self._storage.login
        self.context.token_expiry_time = login.expires_at
        if login.metadata:
            self.context.oauth_metadata = OAuthMetadata.model_validate(login.metadata)
        if login.resource:
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(login.resource)

    def _expected_issuer(self) -> str:
        return _Issuer(super()._expected_issuer())

    def discovered(self) -> dict[str, Any]:
        found = {"metadata": self.context.oauth_metadata, "resource": self.context.protected_resource_metadata}
        return {name: one.model_dump(mode="json", exclude_none=True) for name, one in found.items() if one is not None}


class _StartingProvider(_Provider):
    async def _perform_authorization(self) -> NoReturn:
        """As the SDK's, which does not give its verifier away."""
        context, pkce, state = self.context, PKCEParameters.generate(), secrets.token_urlsafe(32)
        endpoint = str(context.oauth_metadata.authorization_endpoint) if context.oauth_metadata else None
        base = context.get_authorization_base_url(context.server_url)
        assert context.client_info is not None  # noqa: S101 - registered one step before
        parameters = {
            "response_type": "code",
            "client_id": context.client_info.client_id,
            "redirect_uri": str(next(iter(context.client_metadata.redirect_uris or ()), "")),
            "state": state,
            "code_challenge": pkce.code_challenge,
            "code_challenge_method": "S256",
        }
        if context.should_include_resource_param(context.protocol_version):
            parameters["resource"] = context.get_resource_url()
        if scope := context.client_metadata.scope:
            parameters |= {"scope": scope} | ({"prompt": "consent"} if "offline_access" in scope.split() else {})
        url = endpoint or urljoin(base, "/authorize")
        raise _RedirectNeeded(f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}", state, pkce.code_verifier)


class UserAuth(_Provider):
    """Adds the user's token to requests and refreshes it. Without a valid one, LoginRequiredError."""

    def __init__(self, user_login: UserLogin, login: Login) -> None:
        super().__init__(_Storage(user_login, login), _client_metadata(login.redirect_uri or login.url, login.scope))

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        """Another process may have used the refresh token just before: its tokens count."""
        if await super()._handle_refresh_response(response):
            return True
        if await self._storage.reload():
            await self._initialize()
        return self.context.is_token_valid()

    async def _perform_authorization(self) -> NoReturn:
        raise LoginRequiredError("toolbox.login_required")


class OAuthLogins:
    """Logins at one server. URLs that the server gives us must be of its own origin or pass the policy."""

    def __init__(self, name: str, spec: "ServerSpec", policy: UrlPolicy) -> None:
        self._name = name
        self._spec = spec
        self._url = spec.url or ""
        self._policy = policy

    async def start(self, user_login: UserLogin, redirect_uri: str, metadata_url: str) -> str:
        """The URL of the provider to which the user must go."""
        login = await user_login.load() or Login(url=self._url)
        if login.redirect_uri != redirect_uri:
            login.client = None  # it was registered for another URL of ours
        login.redirect_uri = redirect_uri
        if self._spec.oauth and self._spec.oauth.client_id:
            login.client = self._registered(redirect_uri)
        storage = _Storage(user_login, login.model_copy(update={"tokens": None}))
        scope = self._spec.oauth.scope if self._spec.oauth else None
        public = metadata_url if metadata_url.startswith("https:") else None
        provider = _StartingProvider(storage, _client_metadata(redirect_uri, scope), public)
        try:
            async with self._http(auth=provider) as client:
                await client.post(self._url, json=PROBE, headers={"Accept": "application/json, text/event-stream"})
        except _RedirectNeeded as redirect:
            _require_web_url(redirect.url, self._name)
            begun = storage.login.model_copy(
                update={
                    **provider.discovered(),
                    "scope": provider.context.client_metadata.scope,
                    "tokens": login.tokens,
                    "verifier": redirect.verifier,
                }
            )
            await user_login.save(begun, state=redirect.state)
            return redirect.url
        except SDK_ERRORS as error:
            raise self._failed(error) from error
        raise ConflictError("toolbox.login_not_needed", server=self._name)

    async def finish(self, user_login: UserLogin, code: str, issuer: str | None) -> None:
        login = await user_login.load()
        if login is None or login.verifier is None or login.redirect_uri is None:
            raise ConflictError("toolbox.login_expired", server=self._name)
        storage = _Storage(user_login, login)
        provider = _Provider(storage, _client_metadata(login.redirect_uri, login.scope))
        await provider._initialize()  # noqa: SLF001 - a method of ours
        try:
            validate_authorization_response_iss(issuer, provider.context.oauth_metadata)
            request = await provider._exchange_token_authorization_code(code, login.verifier)  # noqa: SLF001
            async with self._http() as client:
                await provider._handle_token_response(await client.send(request))  # noqa: SLF001
        except SDK_ERRORS as error:
            raise self._failed(error) from error
        logger.info("server %s: a user has logged in", self._name)

    async def revoke(self, login: Login) -> None:
        """Ask the provider to revoke the tokens, where it says how. It may not answer: they are deleted anyway."""
        endpoint = (login.metadata or {}).get("revocation_endpoint")
        if not endpoint or not login.tokens or not login.client:
            return
        form = {"client_id": login.client["client_id"], "token": login.tokens["access_token"]}
        if refresh := login.tokens.get("refresh_token"):
            form |= {"token": refresh, "token_type_hint": "refresh_token"}
        if secret := login.client.get("client_secret"):
            form["client_secret"] = secret
        try:
            async with self._http() as client:
                response = await client.post(endpoint, data=form)
                if response.status_code == BAD_REQUEST and "client_secret" not in form:
                    await client.post(endpoint, data={**form, "client_secret": ""})  # the SDK's servers want the field
        except (*SDK_ERRORS, ServiceError) as error:
            logger.info("server %s: the tokens could not be revoked (%s)", self._name, type(error).__name__)

    def _registered(self, redirect_uri: str) -> dict[str, Any]:
        oauth = self._spec.oauth
        assert oauth is not None  # noqa: S101
        secret = oauth.client_secret.get_secret_value() if oauth.client_secret else None
        return {
            "client_id": oauth.client_id,
            "redirect_uris": [redirect_uri],
            "token_endpoint_auth_method": "client_secret_post" if secret else "none",
            **({"client_secret": secret} if secret else {}),
        }

    def _http(self, auth: httpx2.Auth | None = None) -> httpx2.AsyncClient:
        return create_http_client(timeout=TIMEOUT, auth=auth, transport=CheckedTransport(self._url, self._policy))

    def _failed(self, error: Exception) -> ChieError:
        """The provider's own words may hold secrets, so only the kind of error is told."""
        if isinstance(error, RefusedUrlError) and isinstance(error.__cause__, ChieError):
            return error.__cause__
        logger.warning("server %s: the login failed (%s)", self._name, type(error).__name__)
        return ServiceError("toolbox.login_failed", server=self._name, error=type(error).__name__)


def _client_metadata(redirect_uri: str, scope: str | None = None) -> OAuthClientMetadata:
    return OAuthClientMetadata.model_validate({**client_document(redirect_uri), "scope": scope})


def client_document(redirect_uri: str) -> dict[str, Any]:
    """What a provider learns about us: at registration, or from the client id metadata document."""
    return {
        "client_name": CLIENT_NAME,
        "redirect_uris": [str(AnyUrl(redirect_uri))],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def _require_web_url(url: str, server: str) -> None:
    """The page opens it: no other schemes, and no plain HTTP beyond this machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in (*LOOPBACK, "::1")):
        raise ServiceError("toolbox.login_url_refused", server=server)
