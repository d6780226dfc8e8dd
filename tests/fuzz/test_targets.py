"""The fuzzing targets with a few examples by Hypothesis; `make fuzz` runs them with atheris."""

import io
import json
import zipfile
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fuzz import targets
from tests.fuzz.targets import MOMENT, TARGETS

from chie.errors import ChieError
from chie.knowledge.markdown import note_file
from chie.knowledge.note import Note

quick = settings(max_examples=60)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
keys = st.sampled_from(["op", "node", "name", "changes", "newName", "from", "to", "output", "input", "path", "value"])
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["addNode", "removeNode", "updateNode", "renameNode", "connect", "disconnect", "setField"])}
).flatmap(
    lambda op: st.dictionaries(keys, st.sampled_from(["Start", "送信", "parameters.a[0]", {"type": []}]) | values).map(
        op.__or__
    )
)
written_always = ["id", "title", "user_id", "origin", "created_at", "updated_at"]
moments = st.datetimes().map(str) | st.sampled_from(["0001-01-01T00:00:00+09:00", "9999-12-31 23:59:59 -9", "2026-1-2"])
matter = st.dictionaries(
    st.sampled_from([*written_always, "tags", "created", "source", "status", "private"]), values | moments
) | st.fixed_dictionaries(dict.fromkeys(written_always, values | moments))


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("name", TARGETS)
@quick
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)


@quick
@given(fields=matter, body=st.text(max_size=100))
def test_any_front_matter(fields: dict[str, Any], body: str) -> None:
    targets.markdown_file(b"---\n" + written(fields) + b"\n---\n" + body.encode("utf-8", "replace"))


def read(text: str) -> Note:
    return note_file.parse(text, name="file", source="file:///file.md", changed=MOMENT)


@quick
@given(between=st.text(max_size=60).filter(lambda text: "---" not in text), after=st.text(max_size=20))
@example(between="この段落は大事です。", after="残り")
@example(between="# heading", after="rest")
@example(between="- one\n- two", after="rest")
def test_text_between_two_rules_is_kept_unless_it_is_front_matter(between: str, after: str) -> None:
    text = f"---\n{between}\n---\n{after}"
    try:
        note = read(text)
    except ChieError:
        return
    if between.strip() and not isinstance(yaml.compose(between, yaml.BaseLoader), yaml.MappingNode):
        assert note.content == text.strip()


@quick
@given(word=st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9.+:-]{0,12}[A-Za-z0-9])?", fullmatch=True))
@example(word="Yes")
@example(word="3.10")
@example(word="1:30")
@example(word="0x1F")
@example(word="2026-01-02")
def test_word_is_kept_as_typed(word: str) -> None:
    absent = word in ("null", "Null", "NULL")
    note = read(f"---\ntitle: {word}\ntags: [{word}]\n---\ntext")
    assert (note.title, note.tags) == (("file", []) if absent else (word, [word]))


def make_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            archive.writestr(f"{kind}.md", "知恵 wisdom " * 9, kind)
    return buffer.getvalue()


ZIP = make_zip()


@settings(max_examples=300)
@given(damage=st.dictionaries(st.integers(0, len(ZIP) - 1), st.integers(0, 255), min_size=1, max_size=8))
@example(damage={ZIP.rindex(b"14.md"): 0})  # a file without a name
def test_any_damage_to_a_zip(damage: dict[int, int]) -> None:
    data = bytearray(ZIP)
    for offset, value in damage.items():
        data[offset] = value
    targets.zip_file(bytes(data))


BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    + [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
)


@pytest.mark.parametrize(
    "field", ["id", "title", "tags", "source", "status", "user_id", "created", "origin", "aliases"]
)
def test_yaml_bomb_in_front_matter_is_read_quickly(field: str) -> None:
    targets.markdown_file(f"---\n{BOMB}\n{field}: *i\n---\ntext\n".encode())


@quick
@given(items=st.lists(st.text() | values, max_size=8))
@example(items=["\u2028\r\n\n: x\ndata: y\n\n", "\x00", "知恵"])
def test_any_answer(items: list[Any]) -> None:
    targets.sse_encoder(written(items))


@quick
@given(given_=st.lists(operations, max_size=5))
def test_any_operations(given_: list[dict[str, Any]]) -> None:
    targets.n8n_patch(written(given_))


@quick
@given(
    change=st.dictionaries(
        st.sampled_from(["name", "nodes", "settings"]),
        values
        | st.lists(
            st.dictionaries(
                st.sampled_from(["id", "name", "type", "parameters", "credentials"]),
                st.sampled_from(["1", "Start"]) | values,
            ),
            max_size=3,
        ),
    )
)
def test_any_change(change: dict[str, Any]) -> None:
    targets.n8n_merge(written(change))
