"""The routes and tools of `tests/security` as tables, with the limits that the app's own settings and schemas say."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import cache
from typing import Any

from tests.fakes.agents import FakeRegistry
from tests.security.matrix import LISTING, PRIVATE, PUBLIC, SHARED, Case, Race
from tests.security.routes import ROUTES
from tests.security.tools import NOT_FOUND, TOOLS

from chie.access.settings import AccessSettings
from chie.app import LARGER_BODIES, create_app
from chie.http.body_limit import MAX_BODY_BYTES, MEBIBYTE, BodyLimit
from chie.mcp_kit.server import Server

WHO = {
    PUBLIC: "anybody; no team data",
    SHARED: "every user; the same for all",
    PRIVATE: "its user; *not found* for others",
    LISTING: "every user; own and shared things",
}
ADMINS = "admins"
WHOSE = {True: "notes that the caller may read; others are *not found*", False: "the same for all"}
READS = "reads only"
WITH_BODY = ("POST", "PUT", "PATCH", "ANY")
MIN_TEXT = 1_000  # shorter texts bound no work
HEAD = ("route", "who; whose things", "race: what decides", "limits")
TOOL_HEAD = ("tool", "whose things", "race: what decides", "limits")

Schema = Mapping[str, Any]


def route_rows(servers: Mapping[str, Server]) -> Iterator[tuple[str, ...]]:
    document = create_app(dict(servers), nullcontext(FakeRegistry())).openapi()
    for name, case in ROUTES.items():
        who = f"{ADMINS}; the same for all" if case.admins else WHO[case.kind]
        yield f"`{name}`", who, shown(case.race), limits(name, case, document)


def tool_rows(servers: Mapping[str, Server]) -> Iterator[tuple[str, ...]]:
    for server, cases in TOOLS.items():
        for tool in sorted(asyncio.run(servers[server].list_tools()), key=lambda tool: tool.name):
            case = cases[tool.name]
            bounds = [case.bound, *dict.fromkeys(_bounds(tool.parameters, {}))]
            whose = WHOSE[server == "knowledge" or case.outcome == NOT_FOUND]
            yield f"`{tool.name}`", whose, shown(case.race), "; ".join(filter(None, bounds))


def shown(race: Race | None) -> str:
    if race is None:
        return READS
    files = dict.fromkeys(test.partition("::")[0] for test in race.tests)
    proofs = ", ".join(f"[{file.rpartition('/')[2].removesuffix('.py')}](../tests/{file})" for file in files)
    return f"{race.decides} ({proofs})" if proofs else race.decides


def limits(name: str, case: Case, document: Schema) -> str:
    """The size of the body, what the schema bounds, and what the table adds."""
    method, path = name.split(" ")
    operation = document["paths"].get(path, {}).get(method.lower(), {})
    found = [*filter(None, [case.bound]), *_derived(operation, document)]
    if method in WITH_BODY and (not found or _body(path) != MAX_BODY_BYTES // MEBIBYTE):
        found.append(f"body {_body(path)} MiB")
    if not found and (case.kind == PRIVATE or method == "DELETE"):
        found = ["one thing"]
    return "; ".join(dict.fromkeys(found))


def rates() -> str:
    """One sentence on what bounds all of them."""
    settings = AccessSettings.model_fields
    rate, burst, seconds = (settings[name].default for name in ("rate_limit", "rate_burst", "body_seconds"))
    return (
        f"Every user may send {rate:.0f} requests a minute, with bursts of {burst} ([settings](users.md#settings)). A "
        f"body has at most {MAX_BODY_BYTES // MEBIBYTE} MiB unless the table names another limit, and must arrive "
        f"within {seconds:.0f} seconds.\n"
    )


def _derived(operation: Schema, document: Schema) -> Iterator[str]:
    definitions = document.get("components", {}).get("schemas", {})
    for parameter in operation.get("parameters", ()):
        yield from _bounds({"properties": {parameter["name"]: parameter["schema"]}}, definitions)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from _bounds(content["schema"], definitions)


def _bounds(schema: Schema, definitions: Schema) -> Iterator[str]:
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for choice in schema.get("anyOf", ()):
        yield from _bounds(choice, definitions)
    for name, part in schema.get("properties", {}).items():
        for choice in [part, *part.get("anyOf", ())]:
            if "maxItems" in choice:
                yield f"`{name}` ≤ {choice['maxItems']:,}"
            if choice.get("maxLength", 0) >= MIN_TEXT:
                yield f"`{name}` ≤ {choice['maxLength']:,} characters"
            if name in COUNTS and "maximum" in choice:
                yield f"`{name}` ≤ {choice['maximum']:,.0f}"


COUNTS = ("limit", "max_results")


@cache
def _limit() -> BodyLimit:
    return BodyLimit(None, seconds=1, larger=LARGER_BODIES)  # type: ignore[arg-type]  # only asked for its limits


def _body(path: str) -> int:
    return _limit().limit(path.replace("{", "").replace("}", "")) // MEBIBYTE
