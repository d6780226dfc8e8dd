"""The Japanese pages say the same as the English ones: commands, headings, links, names in code and tables."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from docs.generate import KINDS, PART
from docs.translation import HEADS, PROSE, Table, descriptions
from tests.docs.blocks import COMMENT, FENCE, ROOT

ENGLISH, JAPANESE = ROOT / "docs", ROOT / "docs" / "ja"
TRANSLATED = sorted(page.name for page in JAPANESE.glob("*.md"))
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
KANA = re.compile(r"[ぁ-ヿ]")


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def prose(self) -> str:
        """Without code blocks and generated tables, which are compared by themselves."""
        return FENCE.sub("", PART.sub("", self.text))

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """Language and content of the code blocks, without comments in shell commands: those are translated."""
        return [(block["kind"], _without_comments(block["kind"], block["body"])) for block in FENCE.finditer(self.text)]

    @property
    def headings(self) -> list[tuple[int, str]]:
        return [(len(found[1]), found[2]) for found in HEADING.finditer(FENCE.sub("", self.text))]

    @property
    def anchors(self) -> list[str]:
        return [anchor(title) for _, title in self.headings]

    @property
    def sections(self) -> list[str]:
        return HEADING.split(self.prose)[3::3]

    @property
    def links(self) -> list[tuple[str, str]]:
        """File and anchor of every link, the file from the root of the repository."""
        return [self._resolved(link) for link in LINK.findall(self.prose)]

    def _resolved(self, link: str) -> tuple[str, str]:
        file, _, fragment = link.partition("#")
        if "://" in link:
            return link, ""
        target = (self.path.parent / file).resolve() if file else self.path
        return os.path.relpath(target, ROOT), fragment


def _without_comments(kind: str, body: str) -> str:
    if kind.split()[:1] != ["sh"]:
        return body
    return "\n".join(COMMENT.sub("", line).rstrip() for line in body.splitlines())


def names_in_code(text: str) -> list[str]:
    return sorted({" ".join(name.split()) for name in CODE.findall(text)})


def anchor(title: str) -> str:
    """As GitHub makes it of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def in_japanese(link: tuple[str, str]) -> tuple[str, str]:
    """The link that the Japanese page has where the English one has this one."""
    file, fragment = link
    name = file.removeprefix("docs/")
    if name == "README.md" and fragment == "figures":
        return "README.ja.md", anchor("性能")
    if name not in TRANSLATED:
        return link
    if fragment:
        fragment = Page(JAPANESE / name).anchors[Page(ENGLISH / name).anchors.index(fragment)]
    return f"docs/ja/{name}", fragment


pages = pytest.mark.parametrize(
    ("english", "japanese"), [(Page(ENGLISH / name), Page(JAPANESE / name)) for name in TRANSLATED], ids=TRANSLATED
)


def test_the_pages_of_the_first_hour_are_translated() -> None:
    named = "README tutorial connect service upgrade doctor knowledge page agents n8n bedrock-kb"
    assert {f"{name}.md" for name in named.split()} <= set(TRANSLATED)


@pages
def test_code_blocks_are_the_same(english: Page, japanese: Page) -> None:
    assert japanese.blocks == english.blocks


@pages
def test_headings_have_the_same_levels(english: Page, japanese: Page) -> None:
    assert [level for level, _ in japanese.headings] == [level for level, _ in english.headings]
    assert len(set(japanese.anchors)) == len(japanese.anchors)


@pages
def test_every_section_names_the_same_things_in_code(english: Page, japanese: Page) -> None:
    """Settings, files, fields and commands within sentences and tables: a change of one page has to reach the other."""
    assert len(japanese.sections) == len(english.sections)
    for (_, title), ours, theirs in zip(japanese.headings, japanese.sections, english.sections, strict=True):
        assert names_in_code(ours) == names_in_code(theirs), title


@pages
def test_tables_have_the_same_rows(english: Page, japanese: Page) -> None:
    for (_, title), ours, theirs in zip(japanese.headings, japanese.sections, english.sections, strict=True):
        rows = [[line.count(" | ") for line in text.splitlines() if line.startswith("| ")] for text in (ours, theirs)]
        assert rows[0] == rows[1], title


@pages
def test_lists_have_the_same_number_of_points(english: Page, japanese: Page) -> None:
    for (_, title), ours, theirs in zip(japanese.headings, japanese.sections, english.sections, strict=True):
        points = [len(re.findall(r"^(?:-|\d+\.) ", text, re.MULTILINE)) for text in (ours, theirs)]
        assert points[0] == points[1], title


@pages
def test_links_lead_to_the_same_pages_and_stay_in_the_language(english: Page, japanese: Page) -> None:
    back = (f"docs/ja/{japanese.path.name}", ""), (f"docs/{english.path.name}", "")
    assert english.links[0] == back[0]
    assert japanese.links[0] == back[1]
    assert sorted(japanese.links[1:]) == sorted(map(in_japanese, english.links[1:]))


@pages
def test_anchors_exist(english: Page, japanese: Page) -> None:
    for page in (english, japanese):
        for file, fragment in page.links:
            assert not fragment or fragment in Page(ROOT / file).anchors, f"{file}#{fragment}"


@pages
def test_generated_tables_are_the_same_and_in_japanese(english: Page, japanese: Page) -> None:
    parts = [[(part["kind"], part["name"]) for part in PART.finditer(page.text)] for page in (english, japanese)]
    assert parts[0] == parts[1]
    assert {part["language"] for part in PART.finditer(english.text)} <= {None}
    assert {part["language"] for part in PART.finditer(japanese.text)} <= {"ja"}


def generated() -> list[Table]:
    found = {(part["kind"], part["name"]) for name in TRANSLATED for part in PART.finditer(Page(JAPANESE / name).text)}
    tables = [KINDS[kind](name) for kind, name in sorted(found)]
    return [table for table in tables if isinstance(table, Table)]


def test_every_description_is_translated_and_no_translation_is_left_over() -> None:
    texts = {text for table in generated() for text in table.prose()}
    assert texts - set(descriptions()) == set()
    assert set(descriptions()) - texts == set()
    assert {title for table in generated() for title in table.head if title in PROSE} <= set(HEADS)


def test_translations_are_japanese_and_keep_the_names_in_code() -> None:
    for english, japanese in descriptions().items():
        assert KANA.search(japanese), japanese
        assert names_in_code(japanese) == names_in_code(english), english
