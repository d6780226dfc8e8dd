"""How a Claude is asked for its thinking. The models of Anthropic's API and of Amazon Bedrock take the same fields."""

import re

OUTPUT_TOKENS = 32_000  # with thinking, which counts among the tokens of the answer

# These decide themselves how much to think; from the fifth generation on also if they are not asked to.
_ADAPTIVE = re.compile(r"claude-(?:(?:opus|sonnet|haiku)-4-[6-9](?!\d)|mythos|[a-z]+-(?:[5-9]|\d\d)(?:-|$|[.:@]))")
_THINKS_BY_DEFAULT = re.compile(r"claude-(?:mythos|[a-z]+-(?:[5-9]|\d\d)(?:-|$|[.:@]))")


def adaptive_thinking(model: str, effort: str | None, *, call_required: bool) -> dict[str, str] | None:
    """None for a model that does not think, and for a request that forces a call, which excludes thinking.

    Since Opus 4.7 the text of the thinking is sent only if a summary of it is asked for.
    """
    name = model.lower()
    thinks = _ADAPTIVE.search(name) if effort else _THINKS_BY_DEFAULT.search(name)
    return {"type": "adaptive", "display": "summarized"} if thinks and not call_required else None
