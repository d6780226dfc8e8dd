"""Edits change our own entry and nothing else in a configuration file."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connect.strategies import indented_files, jsonc_files, toml_files

from chie.connect.errors import ConfigSyntaxError, UnsupportedLayoutError
from chie.connect.format import Format
from chie.connect.json_format import JsonFormat
from chie.connect.toml_format import TomlFormat
from chie.messages.catalogue import Message

JSON, TOML = JsonFormat(), TomlFormat()
ENTRY: dict[str, Any] = {"command": "/opt/知恵/chie", "args": ["mcp", "knowledge"], "env": {"A": 'quo"te \\'}}
OTHER: dict[str, Any] = {"url": "http://127.0.0.1:8080/mcp/knowledge"}


@pytest.mark.parametrize(
    ("form", "files", "key"), [(JSON, jsonc_files(), "mcpServers"), (TOML, toml_files(), "mcp_servers")]
)
@settings(max_examples=100)
@given(data=st.data())
def test_adding_changes_nothing_else(
    form: Format, files: st.SearchStrategy[str], key: str, data: st.DataObject
) -> None:
    before = data.draw(files)
    splice = form.checked_put(before, key, "knowledge", ENTRY)
    after = splice.apply(before)
    parsed = form.parse(before)
    assert form.parse(after) == parsed | {key: parsed.get(key, {}) | {"knowledge": ENTRY}}
    assert after.startswith(before[: splice.start])
    assert after.endswith(before[splice.stop :])
    if "knowledge" not in parsed.get(key, {}):
        assert splice.start == splice.stop


@pytest.mark.parametrize(
    ("form", "files", "key"), [(JSON, jsonc_files(), "mcpServers"), (TOML, toml_files(), "mcp_servers")]
)
@settings(max_examples=100)
@given(data=st.data())
def test_removing_leaves_the_rest_unchanged(
    form: Format, files: st.SearchStrategy[str], key: str, data: st.DataObject
) -> None:
    """Without a receipt."""
    before = data.draw(files)
    others = {name: entry for name, entry in form.entries(before, key).items() if name != "knowledge"}
    after = form.checked_put(before, key, "knowledge", ENTRY).apply(before)
    left = form.checked_drop(after, key, "knowledge")
    assert form.parse(left) | {key: others} == form.parse(before) | {key: others}
    assert form.entries(left, key) == others
    if form is TOML:
        assert left == before


@settings(max_examples=100)
@given(before=indented_files())
def test_removal_is_exact_next_to_other_servers(before: str) -> None:
    servers = JSON.entries(before, "mcpServers")
    if not servers or "knowledge" in servers:
        return
    after = JSON.checked_put(before, "mcpServers", "knowledge", ENTRY).apply(before)
    assert JSON.checked_drop(after, "mcpServers", "knowledge") == before


@settings(max_examples=100)
@given(before=indented_files())
def test_json_stringify_layout_is_kept(before: str) -> None:
    after = JSON.checked_put(before, "mcpServers", "knowledge", ENTRY).apply(before)
    assert ("\r\n" in after) == ("\r\n" in before) or "\n" not in before
    assert after.count("\n") == after.count("\r\n") or "\r\n" not in before
    lines = before.splitlines()
    if len(lines) > 1:
        indent = lines[1][: len(lines[1]) - len(lines[1].lstrip())]
        content = json.loads(after)
        assert after.rstrip("\r\n").splitlines() == json.dumps(content, ensure_ascii=False, indent=indent).splitlines()


@settings(max_examples=80)
@given(before=jsonc_files())
def test_parser_agrees_with_the_standard_library_on_plain_json(before: str) -> None:
    try:
        expected = json.loads(before.removeprefix("\ufeff"))
    except ValueError:
        return
    assert JSON.parse(before) == expected


@settings(max_examples=60)
@given(text=st.one_of(st.text(), st.text(alphabet='{}[]",:/*\\ \n1ae-.')))
def test_parser_never_crashes(text: str) -> None:
    """It parses whatever the standard library parses and rejects the rest with a position."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        plain = None
    try:
        found: dict[str, Any] | None = JSON.parse(text)
    except (ConfigSyntaxError, UnsupportedLayoutError):
        found = None
    assert found == plain or not isinstance(plain, dict)


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "comma_expected"),
        ('{"a": }', 1, 7, "value_missing"),
        ('{"a" 1}', 1, 6, "colon_expected"),
        ("{a: 1}", 1, 2, "key_expected"),
        ('{"a": 1} x', 1, 10, "trailing_text"),
        ('{"a": "b\n"}', 1, 7, "unterminated_string"),
        ('{"a": "\\q"}', 1, 7, "invalid_escape"),
        ('\ufeff{"a": nope}', 1, 7, "invalid_value"),
        ('{"a": 1２}', 1, 8, "comma_expected"),
        ('{"a": 0.５}', 1, 8, "comma_expected"),
        ("{ /* for ever }", 1, 3, "unterminated_comment"),
        ('{"a": ' + "[" * 300, 1, 207, "too_deep"),
    ],
)
def test_invalid_json_is_reported_with_its_position(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(ConfigSyntaxError) as error:
        JSON.parse(text)
    assert error.value.code == "connect.syntax_error"
    found = error.value.reason.params
    assert (found["line"], found["column"]) == (line, column)
    assert isinstance(found["problem"], Message)
    assert found["problem"].code == f"connect.json_{problem}"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('a = 1\nb = "x\n', "line 2, column 7: "),
        ("a = 1\r\n[b\r\n", "line 2, column 3: "),
        ("\ufeffa = = 1", "line 1, column 5: "),
        ("a = [1, 2", "line 1, column 10: "),
    ],
)
def test_invalid_toml_is_reported_with_its_position(text: str, position: str) -> None:
    with pytest.raises(ConfigSyntaxError) as error:
        TOML.parse(text)
    assert error.value.message.startswith(position)


@pytest.mark.parametrize(
    ("form", "text", "code"),
    [
        (JSON, "[]", "file_not_an_object"),
        (JSON, '{"servers": []}', "key_not_an_object"),
        (JSON, '{"servers": {"knowledge": {}}, "servers": {}, "knowledge": 1}', None),
        (TOML, 'servers = { other = { command = "x" } }', "cannot_add_entry"),
        (TOML, 'servers = "none"', "key_not_an_object"),
        (TOML, '[servers]\nknowledge = { command = "x" }', "toml_table_without_header"),
        (TOML, "[servers.knowledge]\na = 1\n[b]\n[servers.knowledge.env]\nc = 1\n", "toml_table_scattered"),
    ],
)
def test_unsupported_layout_is_rejected(form: Format, text: str, code: str | None) -> None:
    if code is None:
        assert form.parse(form.checked_put(text, "servers", "knowledge", OTHER).apply(text))["servers"] == {
            "knowledge": OTHER
        }
        return
    with pytest.raises(UnsupportedLayoutError) as error:
        form.checked_put(text, "servers", "knowledge", OTHER)
    assert error.value.code == f"connect.{code}"


def test_comments_stay_in_their_position() -> None:
    before = '{\n    "mcpServers": { // ours\n        // the first\n        "a": {}, // its tail\n    },\n}\n'
    after = JSON.checked_put(before, "mcpServers", "knowledge", OTHER).apply(before)
    assert after == before.replace(
        "{ // ours\n",
        '{ // ours\n        "knowledge": {\n            "url": "http://127.0.0.1:8080/mcp/knowledge"\n        },\n',
    )


def test_comment_after_a_table_is_not_removed_with_it() -> None:
    before = (
        '[mcp_servers.knowledge]\ncommand = "x"\n[mcp_servers.knowledge.env]\nA = "b"\n\n# the next\n[next]\na = 1\n'
    )
    assert TOML.checked_drop(before, "mcp_servers", "knowledge") == "\n# the next\n[next]\na = 1\n"
    changed = TOML.checked_put(before, "mcp_servers", "knowledge", OTHER).apply(before)
    assert changed == f'[mcp_servers.knowledge]\nurl = "{OTHER["url"]}"\n\n# the next\n[next]\na = 1\n'
    assert tomllib.loads(changed)["next"] == {"a": 1}
