"""The command that VS Code makes of a package in `server.json`, by the rules of its `mcpManagementService.ts`.

The program follows from the registry type; `runtimeHint` is ignored. Runtime arguments come first, then
`identifier@version`, then package arguments. A variable with a description and without a value is asked for.
"""

from dataclasses import dataclass
from typing import Any

PROGRAMS = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}


@dataclass(frozen=True)
class Command:
    program: str
    arguments: list[str]
    environment: dict[str, str]


def compose(package: dict[str, Any], answers: dict[str, str] | None = None) -> Command:
    """`answers` are what the user types when asked; an open question is an empty string."""
    return Command(
        PROGRAMS[package["registryType"]],
        [
            *_arguments(package.get("runtimeArguments", [])),
            f"{package['identifier']}@{package['version']}",
            *_arguments(package.get("packageArguments", [])),
        ],
        {
            variable["name"]: variable.get("value") or (answers or {}).get(variable["name"], "")
            for variable in package.get("environmentVariables", [])
        },
    )


def _arguments(arguments: list[dict[str, Any]]) -> list[str]:
    words: list[str] = []
    for argument in arguments:
        if argument["type"] == "named":
            words.append(argument["name"])
        if value := argument.get("value"):
            words.append(value)
    return words
