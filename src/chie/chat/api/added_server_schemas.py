"""Bodies and responses of the routes for MCP servers that an admin adds. No response has a field for a token."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from chie.chat.api.endpoint_schemas import MAX_KEY, TrialResult
from chie.chat.api.schemas import AddedServerDetails, Body
from chie.chat.toolbox.added_servers import MAX_HEADERS, AddedServer, EnteredServer
from chie.messages.catalogue import Message

HeaderName = Annotated[str, Field(min_length=1, max_length=100)]
HeaderValue = Annotated[str, Field(max_length=MAX_KEY, pattern=r"^[^\x00]*$")]
NewName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class ServerFields(Body):
    """A field that is left out keeps its value. `headers` are all headers; null as a value keeps the stored one."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_KEY, pattern=r"^[^\x00]*$")] | None = None
    headers: Annotated[dict[HeaderName, HeaderValue | None], Field(max_length=MAX_HEADERS)] | None = None
    always_ask: bool | None = Field(default=None, description="Whether every call waits for approval.")

    def entered(self) -> EnteredServer:
        return EnteredServer(url=self.url, headers=self.headers, always_ask=self.always_ask)


class NewServer(ServerFields):
    name: NewName


class ServerTrial(ServerFields):
    """A server to test. With the name of an added one, the fields that are left out are taken from there."""

    name: NewName | None = None
    added: bool = Field(default=False, description="Whether `name` is a server that was added before.")


class ServerTrialResult(BaseModel):
    """`tools` are the names of the tools of a server that works. With `login`, each user must log in first."""

    ok: bool
    tools: list[str] = []
    login: bool = False
    reason: str | None = None
    reason_code: str | None = None
    reason_params: dict[str, Any] | None = None

    @classmethod
    def failed(cls, reason: Message) -> "ServerTrialResult":
        return cls.model_validate(TrialResult.failed(reason).model_dump(exclude={"models"}))


def with_added(states: Iterable[dict[str, Any]], added: Sequence[AddedServer], *, admin: bool) -> list[dict[str, Any]]:
    """The states with the details for admins, and one more for each server that cannot be read on this machine."""
    details = {server.name: details_of(server) for server in added} if admin else {}
    shown = [{**state, "added": details.get(state["name"])} for state in states]
    return [*shown, *({**_unreadable(server), "added": details.get(server.name)} for server in added if not server.url)]


def details_of(server: AddedServer) -> AddedServerDetails:
    return AddedServerDetails(
        url=server.shown_url,
        query=server.has_query,
        headers=list(server.header_names),
        always_ask=server.always_ask,
        readable=server.is_readable,
        changed_at=server.secret_changed_at,
    )


def _unreadable(server: AddedServer) -> dict[str, Any]:
    reason = Message("endpoints.server_unreadable")
    text = {"error": str(reason), "error_code": reason.code, "error_params": reason.json_params()}
    return {"name": server.name, "transport": "http", "state": "not_configured", "tools": [], **text}
