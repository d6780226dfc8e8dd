"""How many tokens an answer of a Claude may have. A request for more than the model writes is refused."""

import re

from chie.chat.models.base import MAX_OUTPUT_TOKENS
from chie.chat.models.claude_thinking import OUTPUT_TOKENS

_FIRST_TOKENS = 4_096
_FIRST = re.compile(r"claude-(?:v\d|instant|2|3-(?:opus|sonnet|haiku))(?!\d)")
_FIRST_ON_BEDROCK = re.compile(r"claude-3-5-sonnet-20240620")


def output_tokens(model: str, *, thinking: bool, on_bedrock: bool = False) -> int:
    """For a request that names no number itself."""
    name = model.lower()
    if _FIRST.search(name) or (on_bedrock and _FIRST_ON_BEDROCK.search(name)):
        return _FIRST_TOKENS
    return OUTPUT_TOKENS if thinking else MAX_OUTPUT_TOKENS
