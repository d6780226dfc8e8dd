"""How deeply JSON may be nested that becomes a part of a conversation.

Models, servers and plug-ins choose it. Pydantic writes no more than 255 levels, so a conversation with a deeper value
could not be opened again.
"""

MAX_DEPTH = 200


def is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [one for one in level if isinstance(one, dict | list)]
        if not containers:
            return False
        level = [item for one in containers for item in (one.values() if isinstance(one, dict) else one)]
    return True
