"""Tags by name. n8n's API takes tag ids, and only through a route of their own."""

from dataclasses import dataclass

from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ValidationError, ValidationErrorContext

MAX_TAG_LENGTH = 24


@dataclass(frozen=True)
class ResolvedTags:
    ids: list[str]
    created: list[str]


def clean(names: list[str]) -> list[str]:
    """Unique, in the given order. Names that are too long are rejected: n8n would report them as duplicates."""
    cleaned = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if any(len(name) > MAX_TAG_LENGTH for name in cleaned):
        context = ValidationErrorContext(field="tags", constraint=f"at most {MAX_TAG_LENGTH} characters")
        raise ValidationError("n8n.tag_too_long", context, limit=MAX_TAG_LENGTH)
    return cleaned


async def resolve(client: N8nApiClient, names: list[str]) -> ResolvedTags:
    """The ids of these tags; missing tags are created."""
    known = {str(tag["name"]): str(tag["id"]) for tag in await client.list_tags()} if names else {}
    created = [name for name in names if name not in known]
    for name in created:
        known[name] = str((await client.create_tag(name))["id"])
    return ResolvedTags([known[name] for name in names], created)
