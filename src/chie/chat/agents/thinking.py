"""What a model writes before its answer, if its server does not tell the two apart."""

import re

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def without_thinking(text: str) -> str:
    """Thinking that was never closed has no answer after it."""
    return _THINKING.sub("", text)
