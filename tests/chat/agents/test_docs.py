"""docs/agents.md agrees with the code."""

import json
import re
from pathlib import Path

import pytest

from chie.chat.agents.agents_file import AgentEntry
from chie.chat.agents.builtin import BUILTIN_AGENTS, FALLBACK_AGENT, KINDS
from chie.chat.agents.dependencies import AgentSpec
from chie.chat.toolbox.servers_file import ServerSpec

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")


def test_plug_in_on_the_page_is_the_tested_one() -> None:
    source = (ROOT / "tests" / "fakes" / "chie-agent-parrot" / "parrot.py").read_text("utf-8")
    assert source.split('"""\n\n', 1)[1] in PAGE


@pytest.mark.parametrize("spec", [*BUILTIN_AGENTS, FALLBACK_AGENT], ids=lambda spec: spec.profile.id)
def test_every_agent_and_kind_is_documented(spec: AgentSpec) -> None:
    assert f"| `{spec.profile.id}` |" in PAGE
    assert all(f"`{kind}`" in PAGE for kind in KINDS)


def test_example_files_are_valid() -> None:
    servers, agents = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    assert [ServerSpec.model_validate(entry) for entry in servers["mcpServers"].values()]
    [entry] = [AgentEntry.model_validate(entry) for entry in agents["agents"]]
    assert set(AgentEntry.model_fields) == set(agents["agents"][0])
    assert entry.kind in KINDS
