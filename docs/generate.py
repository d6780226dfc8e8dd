"""Rewrites the generated parts of the documentation; with `--check`, lists the files that are out of date.

A generated part is enclosed in `<!-- generated: KIND NAME -->` and `<!-- end -->`. Kinds: `tools` and `prompts` of a
server, `settings` of a module, `commands` of the CLI, MCP `clients` that can be connected, `figures` of `make bench`,
`modules` of a package, `requirements` with their tests, the `security` matrix. The plot of the figures is generated
too. A name followed by `ja` gives the table in Japanese, with the translations in `docs/ja/descriptions.json`.
"""

import ast
import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from bench.figure import read
from bench.plot import plot
from bench.summary import quality, summary
from bench.table import table
from click import Command, Context, Group
from docs.requirement_table import HEAD, requirement_rows
from docs.translation import LANGUAGES, Table
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from chie.mcp_kit.server import Server
from docs import security_matrix

ROOT = Path(__file__).parents[1]
PLOT = ROOT / "docs" / "images" / "figures.svg"
PART = re.compile(
    r"(<!-- generated: (?P<kind>\w+) (?P<name>[\w-]+)(?: (?P<language>ja))? -->\n).*?(<!-- end -->)", re.DOTALL
)


def tools(name: str) -> Table:
    server: Server = _servers()[name]()
    rows = []
    for tool in asyncio.run(server.list_tools()):
        required = tool.parameters.get("required", [])
        arguments = ", ".join(
            f"**{argument}**" if argument in required else argument for argument in tool.parameters["properties"]
        )
        rows.append((f"`{tool.name}`", arguments, (tool.description or "").split("\n\n")[0].replace("\n", " ")))
    return Table(("tool", "arguments (**required**)", "what it does"), rows)


def prompts(name: str) -> Table:
    rows = []
    for prompt in asyncio.run(_servers()[name]().list_prompts()):
        given = prompt.arguments or []
        arguments = ", ".join(f"**{one.name}**" if one.required else one.name for one in given)
        rows.append((f"`{prompt.name}`", arguments, prompt.title or "", (prompt.description or "").split(" / ")[0]))
    return Table(("prompt", "arguments (**required**)", "in the client's menu", "what it does"), rows)


def settings(name: str) -> Table:
    rows = []
    for variable, about in _variables(_settings()[name]):
        default = "" if about.default_factory or about.default is None or about.is_required() else f"`{about.default}`"
        rows.append((f"`{variable}`", default, about.description or ""))
    return Table(("variable", "default", "meaning"), rows)


def setting_names() -> set[str]:
    """Every environment variable that any module reads."""
    return {variable for kind in _settings().values() for variable, _ in _variables(kind)}


def _variables(kind: type[BaseSettings]) -> Iterator[tuple[str, FieldInfo]]:
    prefix = kind.model_config.get("env_prefix", "")
    for field, about in kind.model_fields.items():
        alias = about.validation_alias
        yield (alias if isinstance(alias, str) else f"{prefix}{field}".upper()), about


def clients(_: str) -> Table:
    """The file that `chie connect` edits, by client and system."""
    known = import_module("chie.connect.mcp_clients").MCP_CLIENTS
    find = import_module("chie.connect.config_paths").config_path
    systems = {"linux": {"HOME": "~"}, "darwin": {"HOME": "~"}, "win32": {"USERPROFILE": "~", "APPDATA": "%APPDATA%"}}
    rows = [
        (
            f"`{client.id}`",
            *(f"`{find(client, env, system).as_posix()}`" for system, env in systems.items()),
            f"`{client.key}`",
        )
        for client in known
    ]
    return Table(("client", "Linux", "macOS", "Windows", "under"), rows)


def commands(_: str) -> Table:
    """One row per command, with its arguments and options."""
    return Table(("command", "what it does"), list(_commands(import_module("chie.cli").main, "chie")))


def requirements(_: str) -> Table:
    return Table(HEAD, list(requirement_rows()))


def security(name: str) -> Table | str:
    servers = {key.replace("_", "-"): make() for key, make in _servers().items()}
    if name == "rates":
        return security_matrix.rates()
    if name == "routes":
        return Table(security_matrix.HEAD, list(security_matrix.route_rows(servers)))
    servers["fetch"] = import_module("chie.web_fetch.server").create_server()
    return Table(security_matrix.TOOL_HEAD, list(security_matrix.tool_rows(servers)))


def _commands(command: Command, path: str) -> Iterator[tuple[str, str]]:
    context = Context(command, info_name=path)
    if isinstance(command, Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found and not found.hidden:
                yield from _commands(found, f"{path} {name}")
        return
    names = [
        (param.human_readable_name if param.param_type_name == "argument" else max(param.opts, key=len))
        for param in command.params
    ]
    usage = " ".join([path, *(name if name.startswith("-") else name.upper() for name in names)])
    yield f"`{usage}`", (command.help or "").split("\n\n")[0].replace("\n", " ")


def modules(package: str) -> str:
    """Every file of a package by folder, with the first line of its docstring."""
    root = ROOT / "src" / package
    folders = sorted({file.parent for file in root.rglob("*.py") if "versions" not in file.relative_to(root).parts})
    return "\n".join(_folder(folder, root.parent) for folder in folders)


def _folder(folder: Path, root: Path) -> str:
    files = sorted(file for file in folder.glob("*.py") if file.stem != "__init__")
    about = _first_line(folder / "__init__.py")
    rows = [(f"`{file.name}`", _first_line(file)) for file in files]
    title = f"### `{folder.relative_to(root).as_posix()}/`\n{about}\n\n"
    return title + Table(("file", "contents"), rows).markdown()


def _first_line(file: Path) -> str:
    about = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return about.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def figures(name: str) -> str:
    groups = read()
    if name == "summary":
        return summary(groups)
    if name == "quality":
        return quality(groups)
    if name not in groups:
        return "Not measured yet.\n"
    group = groups[name]
    return f"{table(group.figures)}\n{group.when} UTC, {group.machine}.\n"


def _servers() -> dict[str, Callable[[], Server]]:
    """Factories for each server, with placeholder settings."""
    return {
        "knowledge": import_module("chie.knowledge.server").create_server,
        "bedrock_kb": lambda: import_module("chie.bedrock_kb.server").create_server(
            import_module("chie.bedrock_kb.config").KBConfig("us-east-1", "KB12345678", "model")
        ),
        "n8n": lambda: import_module("chie.n8n.server").create_server(
            import_module("chie.n8n.settings").N8nSettings(
                **dict.fromkeys(("api_key", "mcp_token"), "unused"), url="http://127.0.0.1"
            )
        ),
    }


def _settings() -> dict[str, type[BaseSettings]]:
    return {
        "knowledge": import_module("chie.knowledge.settings").KnowledgeSettings,
        "vector_search": import_module("chie.knowledge.store.vector_search.config").VectorSearchSettings,
        "proxy": import_module("chie.access.proxy").ProxySettings,
        "sessions": import_module("chie.database.settings").DatabaseSettings,
        "bedrock_kb": import_module("chie.bedrock_kb.config").KBSettings,
        "n8n": import_module("chie.n8n.settings").N8nSettings,
        "agents": import_module("chie.chat.settings").ChatSettings,
        "web_fetch": import_module("chie.web_fetch.settings").FetchSettings,
        "access": import_module("chie.access.settings").AccessSettings,
    }


def regenerated(text: str) -> str:
    return PART.sub(lambda part: f"{part[1]}{_generated(part)}{part[5]}", text)


def _generated(part: re.Match[str]) -> str:
    made = KINDS[part["kind"]](part["name"])
    return made if isinstance(made, str) else LANGUAGES[part["language"] or "en"](made).markdown()


KINDS: dict[str, Callable[[str], Table | str]] = {
    "tools": tools,
    "prompts": prompts,
    "settings": settings,
    "commands": commands,
    "clients": clients,
    "requirements": requirements,
    "figures": figures,
    "modules": modules,
    "security": security,
}


def stale() -> dict[Path, str]:
    """The files that are out of date, with their new content."""
    pages = [ROOT / "README.md", ROOT / "README.ja.md", *sorted((ROOT / "docs").rglob("*.md"))]
    current = {page: regenerated(page.read_text("utf-8")) for page in pages if page.exists()} | {PLOT: plot(read())}
    return {file: text for file, text in current.items() if not file.exists() or file.read_text("utf-8") != text}


def write() -> None:
    for file, text in stale().items():
        file.write_text(text, "utf-8")
        sys.stdout.write(f"written: {file.relative_to(ROOT)}\n")


def main() -> int:
    if "--check" not in sys.argv:
        write()
        return 0
    found = stale()
    for file in found:
        sys.stdout.write(f"stale: run make docs: {file.relative_to(ROOT)}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
