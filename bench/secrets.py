"""Secrets that are found and look-alikes that pass, with as many of both; `test` was not used for tuning."""
# ruff: noqa: A005 - always imported as bench.secrets

import sys
import time

from bench.figure import Figure
from bench.secret_cases import Case, cases
from bench.table import SHARE, table
from chie.knowledge.screening.secrets import find_secrets

FOUND_AIM, PASSED_AIM = 0.98, 0.99
MEGABYTE = 1_000_000


def shares(name: str) -> tuple[float, float]:
    """Of the secrets, those found; of the look-alikes, those let through."""
    wrong = mistakes(name)
    every = list(cases(name))
    found, passed = (
        1 - sum(case.secret == secret for case in wrong) / sum(case.secret == secret for case in every)
        for secret in (True, False)
    )
    return found, passed


def mistakes(name: str) -> list[Case]:
    return [case for case in cases(name) if bool(find_secrets(case.text)) != case.secret]


def seconds(size: int) -> float:
    """CPU seconds for a text of developers' notes."""
    text = "\n\n".join(case.text for case in cases("dev") if not case.secret)
    text = (text * (size // len(text) + 1))[:size]
    start = time.process_time()
    find_secrets(text)
    return time.process_time() - start


def main() -> list[Figure]:
    figures = []
    for name in ("dev", "test"):
        found, passed = shares(name)
        figures += [
            Figure(f"{name}: secrets found", "Chie", found, SHARE, FOUND_AIM),
            Figure(f"{name}: look-alikes let through", "Chie", passed, SHARE, PASSED_AIM),
        ]
    return [
        *figures,
        Figure("24 kB, CPU", "Chie", 1000 * seconds(24_000), "ms"),
        Figure("1 MB, CPU", "Chie", 1000 * seconds(MEGABYTE), "ms"),
    ]


if __name__ == "__main__":
    for mistake in mistakes(sys.argv[1]) if sys.argv[1:] else ():
        print("missed" if mistake.secret else "wrong", f"[{mistake.kind}]", mistake.text[:200].replace("\n", "⏎"))
    print(table(main()))
