"""The same views on the bridge of `@modelcontextprotocol/ext-apps`, which checks every message against its schema."""

import subprocess
from pathlib import Path

import pytest
from tests.contract.views import Views, chrome, graph, knowledge, n8n, search
from tests.real.clients import BIN

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

__all__ = ["chrome", "graph", "knowledge", "n8n", "search"]


@pytest.fixture(scope="module")
def host_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = tmp_path_factory.mktemp("bridge") / "host.js"
    source = Path(__file__).with_name("bridge_host.js")
    command = [str(BIN / "rolldown"), str(source), "--file", str(bundle), "--platform", "browser", "--format", "iife"]
    subprocess.run(command, cwd=source.parent, check=True, capture_output=True)
    return bundle


class TestInTheOfficialBridge(Views):
    pass
