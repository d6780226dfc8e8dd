"""Other people's files: what we add and take out is all that changes in them."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connect.texts import indented_files, jsonc_files, toml_files

from chie.connect.format import Format
from chie.connect.json_format import JsonFormat
from chie.connect.text import BrokenTextError, UnsuitedTextError
from chie.connect.toml_format import TomlFormat

JSON, TOML = JsonFormat(), TomlFormat()
ENTRY: dict[str, Any] = {"command": "/opt/知恵/chie", "args": ["mcp", "knowledge"], "env": {"A": 'quo"te \\'}}
OTHER: dict[str, Any] = {"url": "http://127.0.0.1:8080/mcp/knowledge"}


@pytest.mark.parametrize(
    ("form", "files", "key"), [(JSON, jsonc_files(), "mcpServers"), (TOML, toml_files(), "mcp_servers")]
)
@settings(max_examples=100)
@given(data=st.data())
def test_adding_says_one_thing_more_and_touches_nothing_else(
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
def test_what_is_taken_out_again_leaves_the_rest_as_it_was(
    form: Format, files: st.SearchStrategy[str], key: str, data: st.DataObject
) -> None:
    """Even without a memory of what was there."""
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
def test_in_a_list_of_servers_that_has_others_the_way_back_is_exact(before: str) -> None:
    servers = JSON.entries(before, "mcpServers")
    if not servers or "knowledge" in servers:
        return
    after = JSON.checked_put(before, "mcpServers", "knowledge", ENTRY).apply(before)
    assert JSON.checked_drop(after, "mcpServers", "knowledge") == before


@settings(max_examples=100)
@given(before=indented_files())
def test_a_file_laid_out_like_json_stringify_stays_so(before: str) -> None:
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
def test_our_reader_and_the_plain_one_agree_where_a_text_is_plain_json(before: str) -> None:
    try:
        expected = json.loads(before.removeprefix("\ufeff"))
    except ValueError:
        return
    assert JSON.parse(before) == expected


@settings(max_examples=60)
@given(text=st.one_of(st.text(), st.text(alphabet='{}[]",:/*\\ \n1ae-.')))
def test_no_text_makes_the_reader_stumble(text: str) -> None:
    """It reads what the plain reader reads; all else it refuses with a place."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        plain = None
    try:
        found: dict[str, Any] | None = JSON.parse(text)
    except (BrokenTextError, UnsuitedTextError):
        found = None
    assert found == plain or not isinstance(plain, dict)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } is missing here."),
        ('{"a": }', "line 1, column 7: a value is missing."),
        ('{"a" 1}', "line 1, column 6: a colon is missing here."),
        ("{a: 1}", "line 1, column 2: a name in double quotes, or the end of the object, is missing here."),
        ('{"a": 1} x', "line 1, column 10: there is something after the end."),
        ('{"a": "b\n"}', "line 1, column 7: a string begins here and does not end on its line."),
        ('{"a": "\\q"}', "line 1, column 7: this string has an escape that is none."),
        ('\ufeff{"a": nope}', "line 1, column 7: this is not JSON."),
        ('{"a": 1２}', "line 1, column 8: a comma or } is missing here."),
        ('{"a": 0.５}', "line 1, column 8: a comma or } is missing here."),
        ("{ /* for ever }", "line 1, column 3: a comment begins here and never ends."),
        ('{"a": ' + "[" * 300, "line 1, column 207: more than 200 levels are nested here."),
    ],
)
def test_broken_json_is_told_with_its_place(text: str, place: str) -> None:
    with pytest.raises(BrokenTextError) as error:
        JSON.parse(text)
    assert error.value.message == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a = 1\nb = "x\n', "line 2, column 7: "),
        ("a = 1\r\n[b\r\n", "line 2, column 3: "),
        ("\ufeffa = = 1", "line 1, column 5: "),
        ("a = [1, 2", "line 1, column 10: "),
    ],
)
def test_broken_toml_is_told_with_its_place(text: str, place: str) -> None:
    with pytest.raises(BrokenTextError) as error:
        TOML.parse(text)
    assert error.value.message.startswith(place)


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        (JSON, "[]", "the file is not what it should be"),
        (JSON, '{"servers": []}', "`servers` is not what it should be"),
        (JSON, '{"servers": {"knowledge": {}}, "servers": {}, "knowledge": 1}', None),
        (TOML, 'servers = { other = { command = "x" } }', "without rewriting what is yours"),
        (TOML, 'servers = "none"', "not what it should be"),
        (TOML, '[servers]\nknowledge = { command = "x" }', "not written as a table"),
        (TOML, "[servers.knowledge]\na = 1\n[b]\n[servers.knowledge.env]\nc = 1\n", "do not stand together"),
    ],
)
def test_what_cannot_be_added_to_as_it_is_written_is_refused(form: Format, text: str, words: str | None) -> None:
    if words is None:
        assert form.parse(form.checked_put(text, "servers", "knowledge", OTHER).apply(text))["servers"] == {
            "knowledge": OTHER
        }
        return
    with pytest.raises(UnsuitedTextError, match=words):
        form.checked_put(text, "servers", "knowledge", OTHER)


def test_comments_stay_with_what_they_are_about() -> None:
    before = '{\n    "mcpServers": { // ours\n        // the first\n        "a": {}, // its tail\n    },\n}\n'
    after = JSON.checked_put(before, "mcpServers", "knowledge", OTHER).apply(before)
    assert after == before.replace(
        "{ // ours\n",
        '{ // ours\n        "knowledge": {\n            "url": "http://127.0.0.1:8080/mcp/knowledge"\n        },\n',
    )


def test_a_comment_after_a_table_is_not_taken_along() -> None:
    before = (
        '[mcp_servers.knowledge]\ncommand = "x"\n[mcp_servers.knowledge.env]\nA = "b"\n\n# of the next\n[next]\na = 1\n'
    )
    assert TOML.checked_drop(before, "mcp_servers", "knowledge") == "\n# of the next\n[next]\na = 1\n"
    changed = TOML.checked_put(before, "mcp_servers", "knowledge", OTHER).apply(before)
    assert changed == f'[mcp_servers.knowledge]\nurl = "{OTHER["url"]}"\n\n# of the next\n[next]\na = 1\n'
    assert tomllib.loads(changed)["next"] == {"a": 1}
