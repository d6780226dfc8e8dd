"""What makes one agent differ from another of its kind."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Profile:
    """`None` leaves a choice to the agent's kind. Tools are named by patterns, as in `search_*`."""

    id: str
    name: str | None = None
    description: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    system_prompt: str | None = None
    servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] = ("*",)
    approved_tools: tuple[str, ...] = ()
