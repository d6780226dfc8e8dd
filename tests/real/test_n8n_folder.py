"""`chie n8n export`, `diff` and `push` against a real n8n."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.n8n.caller import chain, node
from tests.real.n8n_server import RealN8n

from chie.cli import main

pytestmark = [pytest.mark.real, pytest.mark.req("NP-5")]


@pytest.fixture(autouse=True)
def configured(n8n: RealN8n, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("N8N_URL", n8n.url)
    monkeypatch.setenv("N8N_API_KEY", n8n.key)
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "home"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["n8n", *arguments])


def flow(name: str) -> dict[str, Any]:
    nodes = [
        node("Hook", "n8n-nodes-base.webhook", typeVersion=2, parameters={"path": name, "responseMode": "lastNode"}),
        node("作る", "n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": "return [{json: {v: 1}}]"}),
    ]
    return {"name": name, "nodes": nodes, "connections": chain("Hook", "作る"), "tags": ["team"]}


def test_workflows_as_files(tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    for name in ("注文", "請求"):
        (folder / f"{name}.json").write_text(json.dumps(flow(name)), encoding="utf-8")
    assert run("push", str(folder), "--yes").exit_code == 0
    assert run("diff", str(folder)).exit_code == 0
    assert "0 written, 2 unchanged" in run("export", str(folder)).output
    file = folder / "注文.json"
    text = file.read_text(encoding="utf-8").replace("{v: 1}", "{v: 2}").replace('"注文"', '"新しい注文"')
    file.write_text(text.replace('"tags"', '"description": "説明", "tags"', 1), encoding="utf-8")
    shown = run("diff", str(folder))
    assert (shown.exit_code, "~ node 作る: parameters.jsCode" in shown.output) == (1, True)
    assert run("push", str(folder), "--yes").exit_code == 0
    assert run("diff", str(folder)).exit_code == 0
    assert "1 written, 1 unchanged" in run("export", str(folder)).output  # the order of an edited file is restored
    other = tmp_path / "other"
    assert run("export", str(other)).exit_code == 0
    assert sorted(one.read_text(encoding="utf-8") for one in other.glob("*.json")) == sorted(
        one.read_text(encoding="utf-8") for one in folder.glob("*.json")
    )
