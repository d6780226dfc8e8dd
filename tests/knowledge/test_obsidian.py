"""Tags, aliases and links of Obsidian."""

import pytest
from tests.knowledge.test_markdown_folder import MOMENT

from chie.knowledge.markdown import note_file
from chie.knowledge.markdown.obsidian import LinkIndex, inline_tags, with_links
from chie.knowledge.note import Note


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("about #docker and #本番環境。次 #a/b-c_d", ["docker", "本番環境", "a/b-c_d"]),
        ("#first\n\t#indented\n- [ ] #todo/", ["first", "indented", "todo"]),
        ("#🔥 と #v2", ["🔥", "v2"]),
        ("# heading\n## 見出し #in-heading", ["in-heading"]),
        ("issue #123, #1/2 and #", []),
        ("https://example.com/#part a#b \\#escaped [[Note#part]] [[#part]] (#paren)", []),
        ("`#code` ``#two ` ticks`` #after", ["after"]),
        ("unclosed `tick #tag", ["tag"]),
        ("```sh\n#comment\n```\n~~~\n#x\n~~~\n#prose", ["prose"]),
        ("#タグ、次の文", ["タグ"]),
    ],
)
def test_inline_tags_follow_the_rules_of_obsidian(body: str, tags: list[str]) -> None:
    assert inline_tags(body) == tags


def parsed(text: str, name: str = "file.md") -> Note:
    file = note_file.File(name, text.encode(), MOMENT)
    return note_file.parse_file(file, source=name, owner="aki", resolve={"ログ": "note://k-1"}.get).note


def test_inline_tags_are_added_to_those_of_the_front_matter() -> None:
    assert parsed("---\ntags: [Docker, 検索]\n---\n#docker #nginx").tags == ["Docker", "検索", "nginx"]
    many = " ".join(f"#tag{number}" for number in range(80))
    assert len(parsed(f"---\ntags: [a, b]\n---\n{many} #{'x' * 101}").tags) == 50
    assert parsed("#define X", "notes.txt").tags == []


def test_aliases_are_part_of_the_text() -> None:
    assert parsed("---\naliases: [コンテナ, docker logs]\n---\n# Title\n\ntext").content == (
        "# Title\n\ntext\n\nAliases: コンテナ, docker logs"
    )
    assert parsed("---\naliases: One, with a comma\n---\ntext").content.endswith("\n\nAliases: One, with a comma")
    assert parsed("---\naliases: [TEXT]\n---\nthe text").content == "the text"


def test_links_lead_to_notes() -> None:
    text = "見よ [[ログ]]、[[ログ#節|the log]]、![[ログ#節]]、`[[ログ]]`、[[なし]]、[[ログ|a [b]]]\n```\n[[ログ]]\n```"
    assert parsed(text).content == (
        "見よ [ログ](note://k-1)、[the log](note://k-1)、[ログ > 節](note://k-1)、"
        "`[[ログ]]`、[[なし]]、[[ログ|a [b]]]\n```\n[[ログ]]\n```"
    )


def test_link_names_a_path_or_a_file() -> None:
    index = LinkIndex(["b/c/Note.md", "b/Note.md", "ログ.markdown", "x.y.md"])
    assert index.find("note") == "b/Note.md"
    assert index.find("b/c/Note") == "b/c/Note.md"
    assert index.find("/b/c/Note.md") == "b/c/Note.md"
    assert (index.find("ログ"), index.find("x.y"), index.find("else")) == ("ログ.markdown", "x.y.md", None)


@pytest.mark.parametrize("part", ["`", "``x`", "[[", "[[a|", "#a ", "`#a"])
def test_long_text_is_read_in_linear_time(part: str) -> None:
    body = part * 300_000
    inline_tags(body)
    with_links(body, lambda _: None)


def test_exports_are_read_as_they_are() -> None:
    note = Note(id="k-9", title="t", content="#tag [[ログ]]", created_at=MOMENT, updated_at=MOMENT)
    assert parsed(note_file.write(note)) == note
