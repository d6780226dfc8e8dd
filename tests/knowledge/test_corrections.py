"""English words with one letter wrong are found, in both SQL stores, without a look at private notes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.contract.note_store import a_note
from tests.fakes.embedders import FailableEmbedder

from chie.knowledge.search.tokens import query_tokens, stem, tokens
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store import corrections
from chie.knowledge.store.corrections import Terms, with_corrections
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer

pytestmark = pytest.mark.req("SE-3")


@pytest.mark.parametrize(
    "query",
    [
        "certifcate",
        "certificcate",
        "certifikate",
        "certificaet",
        "ecrtificate",
        "xertificate",
        "ertificate",
        "CERTIFCATES",
    ],
)
def test_a_word_with_one_slip_is_found(service: KnowledgeService, query: str) -> None:
    service.save("The printer on the second floor needs new toner.")
    service.save("TLS の certificate は毎月更新する。")
    found = service.search(query).hits
    assert found
    assert "certificate" in found[0].content


def by_words(path: Path) -> SqliteStore:
    embedder = FailableEmbedder()
    embedder.failing = True
    return SqliteStore(path, embedder)


def test_a_correction_counts_a_little_less_than_the_word_itself(tmp_path: Path) -> None:
    store = by_words(tmp_path / "x.db")
    store.save(a_note("redis evicts sessions"))
    store.save(a_note("something else"))
    exact, corrected = (store.search(query, limit=1).hits[0].score for query in ("evicts sessions", "evcits sessions"))
    assert corrected < exact == 1.0
    assert corrected > 0.8
    store.close()


def test_a_known_word_is_not_corrected(tmp_path: Path) -> None:
    store = by_words(tmp_path / "x.db")
    store.save(a_note("the message queue", id="k-queue"))
    store.save(a_note("the messages quote", id="k-quote"))
    assert [hit.id for hit in store.search("quote", limit=5).hits] == ["k-quote"]
    store.close()


def test_short_words_and_other_scripts_are_not_corrected(tmp_path: Path) -> None:
    store = by_words(tmp_path / "x.db")
    store.save(a_note("java サーバー naïve"))
    for query in ("jaba", "サーパー", "naive"):
        assert store.search(query, limit=5).hits == [], query
    store.close()


def test_private_notes_of_others_correct_nothing(tmp_path: Path) -> None:
    """Otherwise a search would tell which words they have."""
    store = by_words(tmp_path / "x.db")
    store.save(a_note("kubernetes upgrade", id="k-team"))
    before = store.search("kuberntes zeppelni", limit=5, viewer=Viewer("ben"))
    secret = a_note("zeppelin kubernetez", id="k-secret", user_id="aki", private=True)
    store.save(secret)
    assert store.search("kuberntes zeppelni", limit=5, viewer=Viewer("ben")) == before
    assert {hit.id for hit in store.search("kuberntes zeppelni", limit=5, viewer=Viewer("aki")).hits} == {
        "k-team",
        "k-secret",
    }
    store.save(replace(secret, private=False), replacing=secret)
    assert len(store.search("kuberntes zeppelni", limit=5, viewer=Viewer("ben")).hits) == 2
    store.close()


class WordList:
    """A vocabulary of words, as an index stores them, that counts what is asked of it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.terms = {term for word in words for term in tokens(word)}
        self.asked = 0

    def corrected(self, text: str) -> Terms:
        asked = query_tokens(text)
        return with_corrections(text, asked, self.frequencies(asked), self.frequencies)

    def frequencies(self, terms: Sequence[str], prefixes: Sequence[str] = ()) -> dict[str, int]:
        self.asked += len(terms) + len(prefixes)
        return {term: 1 for term in self.terms if term in terms or term.startswith(tuple(prefixes))}


def slips(first: str, second: str) -> int:
    """The distance of Damerau and Levenshtein, by its definition."""
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            if not i or not j:
                rows[i][j] = i + j
                continue
            same = first[i - 1] == second[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


LETTERS = st.text(st.sampled_from("abegins"), min_size=4, max_size=8)


@given(typed=LETTERS.filter(lambda word: len(word) >= corrections.MIN_LETTERS), words=st.lists(LETTERS, max_size=30))
@example(typed="cachign", words=["caching"])
@example(typed="egins", words=["begin"])
def test_the_corrections_are_those_of_the_edit_distance(typed: str, words: list[str]) -> None:
    vocabulary = WordList(words)
    near = {stem(word) for word in words if slips(typed, word) <= 1}
    found = vocabulary.corrected(typed)
    if stem(typed) in vocabulary.terms:
        assert found.corrected == frozenset()
    elif near:
        assert found.corrected
        assert found.corrected <= corrections.spelling_terms(typed)
        assert near <= corrections.spelling_terms(typed)
    for term in found.corrected:  # no word is corrected to one that is further away
        assert min(slips(typed, term + ending) for ending in ("", "s", "e", "es", "ed", "ing", term[-1] + "ing")) <= 2


def test_the_cost_is_bounded() -> None:
    vocabulary = WordList([])
    text = " ".join("abcdefghijklmnopqrstuvwx"[start:] + "xyzzy" for start in range(20))
    vocabulary.corrected(text)
    assert vocabulary.asked < corrections.MAX_WORDS * 150 + 64
