"""The MCPB bundle: `chie mcp knowledge` for Claude Desktop, where a double click installs it.

It contains our wheel and a project that depends on it; the client's `uv` installs Python and the dependencies.
"""

import asyncio
import json
import zipfile
from pathlib import Path
from typing import Any

from chie import __version__

NAME = "chie-knowledge"
TIMESTAMP = (2026, 1, 1, 0, 0, 0)  # fixed, for reproducible bundles
SERVER = '''"""Started by the MCP client."""

from chie.cli import knowledge_gateway

knowledge_gateway()
'''


def pack(wheel: Path, folder: Path) -> Path:
    bundle = folder / f"{NAME}-{__version__}.mcpb"
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, text in _texts(wheel.name).items():
            archive.writestr(_entry(name, zipfile.ZIP_DEFLATED), text)
        archive.writestr(_entry(wheel.name, zipfile.ZIP_STORED), wheel.read_bytes())  # a wheel is a zip already
    return bundle


def _texts(wheel: str) -> dict[str, str]:
    return {
        "manifest.json": json.dumps(manifest(), ensure_ascii=False, indent=2) + "\n",
        "pyproject.toml": project(wheel),
        "server.py": SERVER,
    }


def manifest() -> dict[str, Any]:
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": "Chie 知恵 — team knowledge",
        "version": __version__,
        "description": "Team notes for AI assistants: save findings, search by meaning in Japanese and English.",
        "long_description": (
            "A shared store for a team's findings: fixes, causes, decisions, commands. It works offline, from one "
            "file, without an API key; the embedding model is included.\n\n"
            "チームで得た知見をメモとして保存し、意味で検索できます。日本語と英語に対応し、オフラインで動作します。"
        ),
        "author": {"name": "The Chie developers"},
        "license": "Apache-2.0",
        "keywords": ["knowledge", "notes", "semantic search", "japanese"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", "server.py"]},
        },
        "tools": asyncio.run(_tools()),
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": ">=3.11"}},
    }


def project(wheel: str) -> str:
    return (
        f'[project]\nname = "{NAME}-bundle"\nversion = "{__version__}"\nrequires-python = ">=3.11"\n'
        f'dependencies = ["chie=={__version__}"]\n\n'
        f'[tool.uv]\npackage = false\n\n[tool.uv.sources]\nchie = {{ path = "{wheel}" }}\n'
    )


async def _tools() -> list[dict[str, str]]:
    from chie.knowledge.server import create_server
    from chie.knowledge.settings import KnowledgeSettings

    tools = await create_server(KnowledgeSettings()).list_tools()
    return [{"name": tool.name, "description": (tool.description or "").split("\n")[0]} for tool in tools]


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, TIMESTAMP)
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    return entry
