"""Monthly limits: of a user, and of the whole team. They are checked before work starts; what runs may finish."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.chat.agents.base import BaseAgent
from chie.chat.sessions.entities import now
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import NANO, Limit, Scope, StoredLimit
from chie.chat.settings import ChatSettings
from chie.chat.usage.months import Month
from chie.errors import ForbiddenError, LimitError, NotFoundError, ValidationError
from chie.messages.catalogue import Message

WARNING_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class LimitState:
    """How much of a limit is used. The team's use is not told to a user, only its share."""

    scope: Literal["user", "team"]
    kind: Literal["tokens", "cost"]
    limit: int
    used: int

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 1.0

    @property
    def state(self) -> Literal["ok", "warning", "reached"]:
        if self.share >= 1:
            return "reached"
        return "warning" if self.share >= WARNING_SHARE else "ok"

    def error(self, moment: datetime) -> LimitError:
        month = Month.of(moment)
        cost = f"{self.limit / NANO:,.2f}"
        limit = (
            Message("usage.tokens", tokens=self.limit) if self.kind == "tokens" else Message("usage.cost", cost=cost)
        )
        code = "usage.user_limit_reached" if self.scope == "user" else "usage.team_limit_reached"
        return LimitError(code, seconds=month.seconds_left(moment), limit=limit, date=f"{month.renewal:%Y-%m-%d}")


class UsageLimits:
    """`user` and `team` are the operator's defaults, where no admin has set a limit on the page."""

    def __init__(self, store: UsageStore, *, user: Limit, team: Limit, clock: Callable[[], datetime] = now) -> None:
        self._store = store
        self._user, self._team = user, team
        self.clock = clock

    @property
    def defaults(self) -> dict[str, Limit]:
        return {"user": self._user, "team": self._team}

    async def states(self) -> list[LimitState]:
        """Of the current user, the most used first."""
        stored = {(limit.scope, limit.user_id): limit for limit in await self._store.limits()}
        user_id = current_user().id
        own: Limit = stored.get(("user", user_id)) or stored.get(("everyone", "")) or self._user
        team: Limit = stored.get(("team", "")) or self._team
        found = [*await self._scope("user", own, user_id), *await self._scope("team", team, None)]
        return sorted(found, key=lambda state: state.share, reverse=True)

    async def require(self, agent: BaseAgent) -> None:
        """Raises LimitError if the user, or the team, has reached a limit. An agent without a model costs nothing."""
        if not getattr(agent, "uses_model", True):
            return
        reached = [state for state in await self.states() if state.state == "reached"]
        if reached:
            raise reached[0].error(self.clock())

    async def stored(self) -> list[StoredLimit]:
        require_admin()
        return await self._store.limits()

    async def put(self, limit: Limit, *, scope: Scope, user_id: str = "") -> None:
        """Without tokens and cost there is no limit, whatever the default is."""
        require_admin()
        _require_user(scope, user_id)
        await self._store.put_limit(limit, scope=scope, user_id=user_id, by=current_user().id)
        record("usage_limit.set", user_id or scope)

    async def delete(self, *, scope: Scope, user_id: str = "") -> None:
        """The default applies again."""
        require_admin()
        _require_user(scope, user_id)
        if not await self._store.delete_limit(scope=scope, user_id=user_id):
            raise NotFoundError("usage.limit_not_found")
        record("usage_limit.deleted", user_id or scope)

    async def _scope(self, scope: Literal["user", "team"], limit: Limit, user_id: str | None) -> list[LimitState]:
        if limit.tokens is None and limit.cost is None:
            return []
        month = Month.of(self.clock())
        tokens, cost = await self._store.totals(first=f"{month.first}", last=month.last, user_id=user_id)
        return list(_states(scope, limit, tokens, cost))


def default_limits(settings: ChatSettings) -> dict[str, Limit]:
    return {
        "user": _limit(settings.chie_monthly_tokens, settings.chie_monthly_cost),
        "team": _limit(settings.chie_team_monthly_tokens, settings.chie_team_monthly_cost),
    }


def _limit(tokens: int | None, dollars: float | None) -> Limit:
    return Limit(tokens=tokens, cost=None if dollars is None else round(dollars * NANO))


def require_admin() -> None:
    if not known_user().admin:
        raise ForbiddenError("usage.needs_admin")


def _states(scope: Literal["user", "team"], limit: Limit, tokens: int, cost: int) -> Iterator[LimitState]:
    if limit.tokens is not None:
        yield LimitState(scope=scope, kind="tokens", limit=limit.tokens, used=tokens)
    if limit.cost is not None:
        yield LimitState(scope=scope, kind="cost", limit=limit.cost, used=cost)


def _require_user(scope: Scope, user_id: str) -> None:
    if (scope == "user") != bool(user_id):
        raise ValidationError("usage.user_of_limit")
