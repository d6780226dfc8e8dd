"""Filters in the query: what is one, what is text, and what a search finds with it."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chie.errors import ValidationError
from chie.knowledge.search.query import MAX_FILTERS, Filters, SearchQuery, parse
from chie.knowledge.search.tokens import fold, phrase_terms, tokens
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import MAX_QUERY

pytestmark = pytest.mark.req("SE-4")


def day(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("query", "text", "tags", "filters"),
    [
        ("tag:docker disk full", "disk full", ["docker"], {}),
        ("disk full tag:#Docker TAG:本番", "disk full", ["#Docker", "本番"], {}),
        ('tag:"two words" x', "x", ["two words"], {}),
        ("タグ tag：検索", "タグ", ["検索"], {}),
        ("-tag:Old nginx", "nginx", [], {"without_tags": ("old",)}),
        ("author:aki author:ben x", "x", [], {"authors": ("aki", "ben")}),
        ('author:"Aki Sato"', "", [], {"authors": ("Aki Sato",)}),
        ("after:2026 x", "x", [], {"after": day(2026, 1, 1)}),
        ("after:2026-03 x", "x", [], {"after": day(2026, 3, 1)}),
        ("before:2026-3-9 x", "x", [], {"before": day(2026, 3, 9)}),
        ("after:2026/03/01 before:２０２６/04", "", [], {"after": day(2026, 3, 1), "before": day(2026, 4, 1)}),
        ('redis "Connection  Refused"', "redis Connection  Refused", [], {"phrases": ("connection refused",)}),
        ("“接続 拒否” とは？", "接続 拒否 とは？", [], {"phrases": ("接続 拒否",)}),
        ("redis -docker", "redis", [], {"excluded": ("docker",)}),
        ("検索 -本番 -鍵", "検索", [], {"excluded": ("本番", "鍵")}),
        ('redis -"connection refused"', "redis", [], {"excluded": ("connection refused",)}),
        ("redis -docker-compose", "redis", [], {"excluded": ("docker-compose",)}),
        ('"tar -xzf" fails', "tar -xzf fails", [], {"phrases": ("tar -xzf",)}),
        ('"Error: refused" redis', "Error: refused redis", [], {"phrases": ("error: refused",)}),
        ('tag:redis Error: "foo" not found', 'Error: "foo" not found', ["redis"], {}),
    ],
)
def test_filters_are_parsed(query: str, text: str, tags: list[str], filters: dict[str, object]) -> None:
    assert parse(query) == SearchQuery(text, tuple(tags), Filters(**filters))  # type: ignore[arg-type]


PASTED = [
    "http://host:8080",
    "std::vector",
    "--force",
    "ls -la",
    "10:30",
    'Error: "foo" not found',
    'psql: FATAL: role "postgres" does not exist',
    '{"error": "invalid_grant"}',
    'name="foo"',
    "git push --force -now",
    "tar -xzf file.tar.gz -C /tmp",
    'find . -name "*.py"',
    "$ java -jar app.jar",
    "a - b",
    "tag: x",
    "image:tag",
    "e-mail -5",
    "first line\nsecond -line",
    'エラー："foo" が見つからない',
    '"',
    '""',
    "-",
]


@pytest.mark.parametrize("query", PASTED)
def test_pasted_text_has_no_filters(query: str) -> None:
    assert parse(query) == SearchQuery(query)


@pytest.mark.parametrize("query", PASTED[:10])
def test_pasted_text_is_found(service: KnowledgeService, query: str) -> None:
    service.save("Something else: an unrelated note about printers.")
    saved = service.save(f"When it says {query} then restart it.")
    assert service.search(query).hits[0].id == saved.id


@pytest.mark.parametrize(
    "value", ["2026-13", "yesterday", "2026-02-30", "0000", "26-01-01", "2026-01-01T00:00", "昨日"]
)
@pytest.mark.parametrize("name", ["after", "before"])
def test_a_date_that_is_none_is_an_error_in_both_languages(service: KnowledgeService, name: str, value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        service.search(f"nginx {name}:{value}")
    assert caught.value.code == "knowledge.date_invalid"
    for text in (caught.value.reason.text("en"), caught.value.reason.text("ja")):
        assert all(f"`{name}:{form}`" in text for form in ("2026", "2026-03", "2026-03-01"))


@pytest.mark.parametrize(
    "one", ["-word{}", '"two words{}"', "tag:t{}", "-tag:t{}", "author:a{}", "space:s{}", "after:2000"]
)
def test_a_query_has_a_bounded_number_of_filters(one: str) -> None:
    assert parse(" ".join(["nginx", *(one.format(number) for number in range(MAX_FILTERS))])).text.startswith("nginx")
    with pytest.raises(ValidationError) as caught:
        parse(" ".join(["nginx", *(one.format(number) for number in range(1_200))]))
    assert (caught.value.code, caught.value.reason.params) == (
        "knowledge.filters_too_many",
        {"count": 1_200, "limit": MAX_FILTERS},
    )


def test_a_pasted_text_has_any_number_of_quotes_and_options() -> None:
    pasted = "\n".join(f'Error: "file {number}" -missing' for number in range(200))
    assert parse(pasted).text == pasted


NOTES = {
    "old": "nginx answers 502 when the upstream is down",
    "new": "nginx: upstream timed out (502) behind docker",
    "ja": "nginx が 502 を返すときは upstream を確認する",
}


@pytest.fixture
def found(service: KnowledgeService) -> dict[str, str]:
    tags = {"old": ["Web"], "new": ["web", "docker"], "ja": ["障害"]}
    return {service.save(text, tags=tags[name]).id: name for name, text in NOTES.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("nginx 502 tag:web", {"old", "new"}),
        ("nginx 502 tag:web tag:#Docker", {"new"}),
        ("nginx 502 -tag:WEB", {"ja"}),
        ("nginx 502 -docker", {"old", "ja"}),
        ('nginx "timed out"', {"new"}),
        ("nginx 502 -確認", {"old", "new"}),
        ("nginx 502 author:anonymous", {"old", "new", "ja"}),
        ("nginx 502 author:ben", set()),
        ("nginx 502 after:2000", {"old", "new", "ja"}),
        ("nginx 502 before:2000/01/01", set()),
        ("tag:web", {"old", "new"}),
        ("-tag:web after:2000-01", {"ja"}),
        ("-nginx", set()),
    ],
)
def test_filters_narrow_a_search(
    service: KnowledgeService, found: dict[str, str], query: str, expected: set[str]
) -> None:
    assert {found[hit.id] for hit in service.search(query).hits} == expected


def test_tags_of_the_argument_and_of_the_query_are_combined(service: KnowledgeService, found: dict[str, str]) -> None:
    assert [found[hit.id] for hit in service.search("nginx tag:docker", tags=["WEB"]).hits] == ["new"]
    assert service.search("nginx tag:docker", tags=["障害"]).hits == []


WORD = st.text(st.sampled_from("abcdefgsé042"), min_size=1, max_size=8)
JAPANESE = st.text(st.sampled_from("サーバーの接続問い合わせ々ァｱﾞ鍵"), min_size=1, max_size=8)
PIECE = st.one_of(
    WORD, WORD.map(str.upper), JAPANESE, st.sampled_from([" ", "\n", "-", ".", "_", "/", "++", "#", "、"])
)


@example(before=[], inside=["GitHub"], after=["-Actions"])
@example(before=[], inside=["0a", "A"], after=[])
@given(before=st.lists(PIECE), inside=st.lists(PIECE, min_size=1), after=st.lists(PIECE))
def test_a_text_with_a_phrase_has_its_terms(before: list[str], inside: list[str], after: list[str]) -> None:
    """Otherwise a search would not look at the text."""
    text, phrase = "".join([*before, *inside, *after]), fold("".join(inside))
    if phrase and Filters(phrases=(phrase,)).accept_text("", text) and "_" not in text:
        indexed = set(tokens(text))
        assert all(terms & indexed for terms in phrase_terms(phrase)), (text, phrase, phrase_terms(phrase), indexed)


@given(st.text(st.sampled_from('tag:afterbo-"“” \n.=2x検：'), max_size=60))
def test_any_text_is_parsed(query: str) -> None:
    with suppress(ValidationError):
        parsed = parse(query)
        assert parsed.text or parsed.tags or parsed.filters or not query.strip()


@pytest.mark.parametrize("piece", ["a", "a:", '"', "-", "-a", '" ', ' "', "tag:", "- ", "\n", 'tag:"', ".", "/", "-a-"])
def test_long_queries_are_parsed_in_linear_time(piece: str) -> None:
    """The test's time limit is the bound: quadratic time would take minutes."""
    for _ in range(20):
        parse((piece * MAX_QUERY)[:MAX_QUERY])
