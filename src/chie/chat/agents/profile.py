"""The settings of one agent."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Profile:
    """None means the default of the agent's kind. Tools are given as patterns such as `search_*`."""

    id: str
    name: str | None = None
    description: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    vision: bool | None = None
    context: int | None = None
    system_prompt: str | None = None
    servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] = ("*",)
    approved_tools: tuple[str, ...] = ()
