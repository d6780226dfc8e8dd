"""Words that exclude each other, in both languages."""

import pytest

from chie.knowledge.review.opposites import opposite

pytestmark = pytest.mark.req("MT-3")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The migration runs automatically.", "マイグレーションは手動で流す。"),
        ("FSDP is slower than ZeRO-3.", "FSDP のほうが速い。"),
        ("Test users are included in the count.", "テストユーザーは集計から除外している。"),
        ("The export includes archived rows.", "アーカイブ済みの行は対象外。"),
        ("レビューは必須。", "Review is optional."),
        ("After the update the build works.", "更新後はビルドが落ちる。"),
        ("ログは30日保持する。", "Logs are deleted after the run."),
        ("The flaky test is fixed.", "あのテストはまだ不安定。"),
    ],
)
def test_words_that_exclude_each_other_are_found_in_either_order(a: str, b: str) -> None:
    assert opposite(a, b)
    assert opposite(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The migration runs automatically.", "マイグレーションは自動で流れる。"),
        ("It fails at first, then it works.", "最初は失敗するが、その後は動く。"),
        ("同期ではなく非同期で送る。", "Sent asynchronously."),
    ],
)
def test_the_same_words_exclude_nothing(a: str, b: str) -> None:
    assert not opposite(a, b)
