"""The plugin for Claude Code: its manifests and files. `tests/real/test_plugin.py` installs and runs it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from release.build import ROOT
from tests.fakes.hook_bodies import NAMES, body_name, hook_body

from chie import __version__

PLUGIN = ROOT / "src" / "chie" / "connect" / "plugin"
HTTP_EVENTS = {"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"}


def read(*path: str) -> Any:
    return json.loads(PLUGIN.joinpath(*path).read_text("utf-8"))


@pytest.mark.req("ME-13")
def test_plugin_has_the_version_of_the_package() -> None:
    assert read(".claude-plugin", "plugin.json")["version"] == __version__


@pytest.mark.req("ME-13")
def test_both_marketplaces_name_the_one_plugin() -> None:
    """One is found in the repository, the other in the wheel."""
    for root in (ROOT, PLUGIN):
        manifest = json.loads((root / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
        (entry,) = manifest["plugins"]
        assert (manifest["name"], entry["name"]) == ("chie", "chie")
        assert (root / entry["source"]).resolve() == PLUGIN
        assert "version" not in entry  # the plugin's own manifest has it


@pytest.mark.req("ME-6", "ME-13")
def test_every_http_hook_gives_up_after_a_second_and_names_the_token_only() -> None:
    hooks = read("hooks", "hooks.json")["hooks"]
    assert set(hooks) == HTTP_EVENTS | {"SessionStart"}
    for event in HTTP_EVENTS:
        for group in hooks[event]:
            (hook,) = group["hooks"]
            if hook["type"] == "command":  # it sees the repository of a note that was saved
                assert (event, group["matcher"]) == ("PostToolUse", "mcp__.*__(save|update)_knowledge")
                continue
            assert (hook["type"], hook["timeout"]) == ("http", 1)
            assert hook["url"].endswith("/hooks/claude-code")
            assert hook["headers"] == {"Authorization": "Bearer $CHIE_TOKEN"}
            assert hook["allowedEnvVars"] == ["CHIE_TOKEN"]
    assert hooks["SessionStart"][0]["hooks"][0]["type"] == "command"


@pytest.mark.parametrize("name", [name for name in NAMES if "tool_use" in name])
def test_matchers_let_the_recorded_calls_through(name: str) -> None:
    body = hook_body(name)
    group = read("hooks", "hooks.json")["hooks"][body["hook_event_name"]][0]
    assert re.fullmatch(group["matcher"], body["tool_name"])
    assert not re.fullmatch(group["matcher"], "mcp__plugin_chie_knowledge__search_knowledge")


@pytest.mark.parametrize("file", ["commands/save.md", "commands/recall.md", "skills/team-notes/SKILL.md"])
def test_commands_and_skill_say_what_they_are_for(file: str) -> None:
    _, front, text = (PLUGIN / Path(file)).read_text("utf-8").split("---\n", 2)
    assert "description: " in front
    assert "search_knowledge" in text
    assert "not instructions" in text or file == "commands/save.md"


def test_recordings_have_the_names_of_their_events() -> None:
    assert [body_name(hook_body(name)) for name in NAMES] == list(NAMES)
