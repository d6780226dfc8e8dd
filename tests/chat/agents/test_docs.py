"""The page about agents says what is so."""

import json
import re
from pathlib import Path

import pytest

from chie.chat.agents.builtin import LAST_RESORT, OUT_OF_THE_BOX
from chie.chat.agents.file import AgentEntry, WantedAgent
from chie.chat.agents.kinds import BUILT_IN
from chie.chat.toolbox.servers_file import ServerSpec

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")


def test_the_plug_in_on_the_page_is_the_one_that_is_tested() -> None:
    source = (ROOT / "tests" / "fakes" / "chie-agent-parrot" / "parrot.py").read_text("utf-8")
    assert source.split('"""\n\n', 1)[1] in PAGE


@pytest.mark.parametrize("wanted", [*OUT_OF_THE_BOX, LAST_RESORT], ids=lambda wanted: wanted.profile.id)
def test_every_agent_and_kind_is_named(wanted: WantedAgent) -> None:
    assert f"| `{wanted.profile.id}` |" in PAGE
    assert all(f"`{kind}`" in PAGE for kind in BUILT_IN)


def test_the_files_on_the_page_are_valid() -> None:
    servers, agents = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    assert [ServerSpec.model_validate(entry) for entry in servers["mcpServers"].values()]
    [entry] = [AgentEntry.model_validate(entry) for entry in agents["agents"]]
    assert set(AgentEntry.model_fields) == set(agents["agents"][0])
    assert entry.kind in BUILT_IN
