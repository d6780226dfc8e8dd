"""`/api/usage`: what models have cost, and the monthly limits."""

from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from chie.access.identity import current_user
from chie.chat.api.schemas import MAX_ID
from chie.chat.api.state import ChatState
from chie.chat.sessions.usage_entry import NANO, Limit, Scope
from chie.chat.usage.limits import LimitState
from chie.chat.usage.months import Month
from chie.chat.usage.report import Report, Selection
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/usage", tags=["usage"])

MAX_TOKENS = 10**15
MAX_DOLLARS = 10**9

Name = Annotated[str | None, Query(min_length=1, max_length=MAX_ID, pattern=r"^[^\x00]+$")]
UserId = Annotated[str, Field(max_length=MAX_ID, pattern=r"^[^\x00]*$")]


class OwnLimit(BaseModel):
    """`limit` and `used` are tokens, or dollars; both are null for the team's, unless you are an admin."""

    scope: Literal["user", "team"]
    kind: Literal["tokens", "cost"]
    state: Literal["ok", "warning", "reached"]
    share: float
    limit: float | None
    used: float | None


class MonthState(BaseModel):
    month: str
    renews_at: datetime
    limits: list[OwnLimit]


class NewLimit(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    scope: Scope
    user_id: UserId = ""
    tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    cost: float | None = Field(default=None, ge=0, le=MAX_DOLLARS, allow_inf_nan=False, description="US dollars.")


class SetLimit(NewLimit):
    updated_by: str
    updated_at: datetime


class DefaultLimit(BaseModel):
    tokens: int | None
    cost: float | None


class Limits(BaseModel):
    """`defaults` are those of the settings, for `user` and `team`."""

    limits: list[SetLimit]
    defaults: dict[str, DefaultLimit]


def _selection(
    chat: ChatState,
    first: date | None = None,
    last: date | None = None,
    scope: Literal["own", "team"] = "own",
    user: Name = None,
    agent: Name = None,
    model: Name = None,
) -> Selection:
    """Without days, this month."""
    month = Month.of(chat.limits.clock())
    start = first or (last.replace(day=1) if last else month.first)
    end = last or chat.limits.clock().date()
    return Selection(first=start, last=end, everyone=scope == "team", user_id=user, agent_id=agent, model=model)


Selected = Annotated[Selection, Depends(_selection)]


@router.get("", responses=errors(403))
async def get_usage(chat: ChatState, selected: Selected) -> Report:
    """Tokens and cost by day, model, agent and user. Without a filter your own; `scope=team` is for admins."""
    return await chat.reports.report(selected)


@router.get("/export", response_class=Response, responses={**errors(403), 200: {"content": {"text/csv": {}}}})
async def export_usage(chat: ChatState, selected: Selected) -> Response:
    """The same as a CSV file."""
    text = await chat.reports.csv(selected)
    name = f"chie-usage-{selected.first}-{selected.last}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8-sig"), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/month", responses=errors())
async def get_month(chat: ChatState) -> MonthState:
    """How much of your limits is used in this month, which is one of UTC."""
    month = Month.of(chat.limits.clock())
    states = await chat.limits.states()
    return MonthState(month=str(month), renews_at=month.renewal, limits=[_own(state) for state in states])


@router.get("/limits", responses=errors(403))
async def get_limits(chat: ChatState) -> Limits:
    """The limits that admins have set, and the defaults. For admins only."""
    stored = [{**asdict(limit), "cost": _dollars(limit.cost)} for limit in await chat.limits.stored()]
    defaults = {name: _limit(limit) for name, limit in chat.limits.defaults.items()}
    return Limits.model_validate({"limits": stored, "defaults": defaults})


@router.put("/limits", status_code=204, responses=errors(403))
async def put_limit(chat: ChatState, body: NewLimit) -> None:
    """Set the monthly limit of the `team`, of `everyone` (each user) or of one `user`. Null is no limit."""
    cost = None if body.cost is None else round(body.cost * NANO)
    await chat.limits.put(Limit(tokens=body.tokens, cost=cost), scope=body.scope, user_id=body.user_id)


@router.delete("/limits", status_code=204, responses=errors(403, 404))
async def delete_limit(
    chat: ChatState, scope: Scope, user_id: Annotated[str, Query(max_length=MAX_ID, pattern=r"^[^\x00]*$")] = ""
) -> None:
    """Remove a limit, so that the default applies."""
    await chat.limits.delete(scope=scope, user_id=user_id)


def _own(state: LimitState) -> OwnLimit:
    shown = state.scope == "user" or current_user().admin
    unit = NANO if state.kind == "cost" else 1
    return OwnLimit(
        scope=state.scope,
        kind=state.kind,
        state=state.state,
        share=round(state.share, 4),
        limit=state.limit / unit if shown else None,
        used=state.used / unit if shown else None,
    )


def _limit(limit: Limit) -> dict[str, Any]:
    return {"tokens": limit.tokens, "cost": _dollars(limit.cost)}


def _dollars(cost: int | None) -> float | None:
    return None if cost is None else cost / NANO
