"""Signatures of errors: the same for the same error, and another for another one."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.recall import signatures
from chie.knowledge.recall.signatures import all_of, kept_of, mask, recognised

SETS = Path(__file__).parents[3] / "bench" / "sets"


@pytest.mark.req("ME-3")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('FATAL:  password authentication failed for user "aki"', "password authentication failed for user <name>"),
        ("/home/aki/app/main.py:12: ValueError: bad port 8080", "ValueError: bad port <n>"),
        ("2026-03-01T10:11:12Z web-1 | ECONNREFUSED 10.0.0.7:5432", "ECONNREFUSED <n>"),
        ("#12 3.456 Error: pg_config executable not found.", "pg_config executable not found"),
        ("\x1b[31mnpm ERR!\x1b[0m code ERESOLVE", "code ERESOLVE"),
        ("src/app.ts(3,7): error TS2742: no type for 'x'", "TS2742: no type for <name>"),
        ("commit 9f8e7d6c5b4a is missing", "commit <id> is missing"),
        ("致命的エラー: 「設定」が見つかりません (行 12)", "致命的エラー: <name>が見つかりません (行 <n>)"),
    ],
)
def test_what_changes_from_one_time_to_the_next_is_masked(line: str, expected: str) -> None:
    assert mask(line) == expected


@pytest.mark.req("ME-3")
@given(st.text(max_size=200))
def test_a_signature_is_its_own_signature(line: str) -> None:
    assert mask(mask(line)) == mask(line)


def test_lines_that_many_failures_print_are_no_signature() -> None:
    log = "npm ERR! A complete log of this run can be found in: /root/.npm/_logs/x.log"
    output = f"Exit code 1\n{log}\nmake: *** [all] Error 2"
    assert kept_of(output) == []


def test_the_most_specific_line_stands_for_a_failure() -> None:
    output = (
        'Exit code 1\nTraceback (most recent call last):\n  File "/a/b.py", line 3, in <module>\n'
        '    import foo\npsycopg2.errors.DeadlockDetected: deadlock detected while updating relation "orders"\nINFO bye'
    )
    assert kept_of(output) == ["psycopg<n>.errors.DeadlockDetected: deadlock detected while updating relation <name>"]
    assert kept_of(output)[0] in all_of("x\n" + output.replace("/a/b.py", "/other.py").replace("orders", "users"))


@pytest.mark.req("ME-3")
def test_the_same_failure_is_recognised_and_another_is_not() -> None:
    """The floors are below what `bench/recall` reports."""
    again, other = [], []
    for line in (SETS / "test" / "signatures.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        kept = kept_of(case["first"])
        again += [bool(recognised(kept, output)) for output in case["again"]]
        other += [bool(recognised(kept, output)) for output in case["other"]]
    assert sum(again) / len(again) > 0.9
    assert sum(other) / len(other) < 0.05


@pytest.mark.req("ME-3")
@pytest.mark.parametrize(
    ("first", "again", "other"),
    [
        (  # wrapped by another tool
            "Error response from daemon: tls: x509: certificate signed by unknown authority",
            "go: acme.dev/x@v1.0.0: Get https://p.local: tls: x509: certificate signed by unknown authority",
            "Error response from daemon: tls: x509: certificate has expired or is not yet valid",
        ),
        (  # another code
            "a.ts(1,2): error TS2322: Type 'A' is not assignable to type 'B'.",
            "src/b.ts:3:4 - error TS2322: Type 'C' is not assignable to type 'D'.",
            "a.ts(1,2): error TS2345: Type 'A' is not assignable to type 'B'.",
        ),
        (  # a message in quotes, and what happened after it
            'fatal: [w1]: FAILED! => {"msg": "Failed to lock apt for exclusive operation"}\n配布に失敗しました',
            "ERROR Failed to lock apt for exclusive operation",
            'fatal: [w1]: FAILED! => {"msg": "No package matching ngnix is available"}\n配布に失敗しました',
        ),
        (
            "java.lang.IllegalStateException: 帳票テンプレート a.xlsx のバージョンが古いため読み込めません。",
            "ERROR 帳票テンプレート 「請求書」 のバージョンが古いため読み込めません。",
            "java.lang.IllegalStateException: 帳票テンプレート a.xlsx が見つかりません。",
        ),
    ],
)
def test_the_cause_is_compared_and_not_what_is_around_it(first: str, again: str, other: str) -> None:
    kept = kept_of(first)
    assert recognised(kept, again) == set(kept)
    assert recognised(kept, other) == set()


def outputs() -> list[str]:
    cases = [json.loads(line) for line in (SETS / "test" / "signatures.jsonl").read_text("utf-8").splitlines()]
    return [output for case in cases for output in (case["first"], *case["again"], *case["other"])]


def test_few_clauses_are_compared_with_a_signature_and_none_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of signatures meet thousands of clauses when a long output fails."""
    known = sorted({one for output in outputs() for one in all_of(output)})
    lines = [line for output in outputs() for line in output.splitlines()]
    failure = "\n".join(lines[:: len(lines) // 160])
    wrapped = [f"{one} {two}" for one, two in pairwise(all_of(failure))]
    clauses = {clause for line in all_of(failure) + wrapped for clause in signatures._clauses(line)}
    codes = signatures._codes("\n".join(all_of(failure)))
    has, same = frozenset().union(*clauses), signatures._same
    expected = {
        one
        for one in known
        if signatures._weight(signatures._key(one) & has)
        >= signatures.LONG_SHARE * signatures._weight(signatures._key(one))
        and signatures._agree(signatures._codes(one), codes)
        and any(same(signatures._key(one), clause) for clause in clauses)
    }
    compared: list[frozenset[str]] = []

    def counted(key: frozenset[str], words: frozenset[str]) -> bool:
        compared.append(key)
        return same(key, words)

    monkeypatch.setattr(signatures, "_same", counted)
    assert recognised(known, failure) == expected
    assert len(expected) > 50
    assert len(compared) < len(known) * len(clauses) / 100


def test_a_title_of_the_terminal_is_removed_however_it_ends() -> None:
    assert (
        mask("\x1b]0;build\x07\x1b]8;;https://x.test\x1b\\\x1b[1;31mpg_config not found\x1b[0m")
        == "pg_config not found"
    )
