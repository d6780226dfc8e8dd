"""The model that reads two notes together."""

import pytest

from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.review import pair_model
from chie.knowledge.review.pair_model import Probabilities, compared
from chie.knowledge.review.text import Text
from chie.knowledge.review.verdict import judge

THIRTY, SIXTY = "注文APIのタイムアウトは30秒。", "注文APIのタイムアウトを60秒に変更した。"

pytestmark = pytest.mark.req("MT-3")


def test_its_tokens_are_those_of_the_embedder_that_ships() -> None:
    """It reads them from that file at a fixed place, so another embedder needs another export."""
    assert OnnxEmbedder().id == pair_model.TOKENS_OF


def test_the_order_of_the_notes_does_not_matter() -> None:
    assert compared(THIRTY, SIXTY) == compared(SIXTY, THIRTY)


@pytest.mark.parametrize("text", ["", " \n", "\u0000", "👩‍💻" * 500, "長い" * 5_000, "x" * 10_000])
def test_any_text_is_read(text: str) -> None:
    found = compared(text, THIRTY)
    assert sum(found) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (THIRTY, SIXTY, "contradiction"),
        ("Deploy the API before the front end.", "The front end goes out before the API.", "contradiction"),
        pytest.param(
            "Deploy the API before the front end.",
            "The front end is deployed first, then the API.",
            "contradiction",
            marks=pytest.mark.xfail(reason="an order that is told from its other end is read as the same"),
        ),
        ("キャッシュは手動で消す必要がある。", "キャッシュはデプロイ時に自動で削除される。", "contradiction"),
        ("The nightly backup starts at 2 am.", "夜間バックアップは午前2時に開始する。", "duplicate"),
        ("Redis needs 2 GB of memory.", "Rotate the signing key every quarter.", "neither"),
    ],
)
def test_it_reads_what_an_embedding_cannot(a: str, b: str, expected: str) -> None:
    found = compared(a, b)
    assert max(found._fields, key=lambda name: getattr(found, name)) == expected


def test_different_things_are_told_apart_in_one_order() -> None:
    """Labels were smoothed in training, so no pair would ever reach a threshold near 1, and each would cost twice."""
    assert compared("Redis needs 2 GB of memory.", "毎週月曜に署名鍵を更新する。").neither >= pair_model.SURE


def test_a_contradiction_of_notes_without_statements_has_a_reason() -> None:
    found = judge(
        Text("", "---"),
        Text("", ""),
        cosine=0.99,
        likeness=lambda _a, _b: 0.0,
        read=lambda _a, _b: Probabilities(1e-9, 0.0, 1.0),
    )
    assert found is not None
    assert found.conflict is not None
    assert (found.conflict.difference, found.conflict.here, found.conflict.there) == ("statement", "---", "")
