"""Tags by name. n8n takes them by id, and only through an address of their own."""

from dataclasses import dataclass

from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ValidationError, ValidationErrorContext

LONGEST = 24


@dataclass(frozen=True)
class Tagged:
    ids: list[str]
    created: list[str]


def clean(names: list[str]) -> list[str]:
    """In the order given, each once; n8n answers a name that is too long as if it existed already."""
    cleaned = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if any(len(name) > LONGEST for name in cleaned):
        raise ValidationError(
            f"tags: a name may have {LONGEST} characters at the most.",
            ValidationErrorContext(field="tags", constraint=f"at most {LONGEST} characters"),
        )
    return cleaned


async def resolve(client: N8nApiClient, names: list[str]) -> Tagged:
    """The ids of these tags; those that do not exist yet are made."""
    known = {str(tag["name"]): str(tag["id"]) for tag in await client.list_tags()} if names else {}
    created = [name for name in names if name not in known]
    for name in created:
        known[name] = str((await client.create_tag(name))["id"])
    return Tagged([known[name] for name in names], created)
