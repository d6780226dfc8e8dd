"""Mutation testing of the rules: `make mutants`, `make mutants ARGS="n8n"`, `make mutants ARGS="--again n8n"`.

The rules of the modules are mutated, one change at a time; a test or the type checker must detect each. Survivors are
explained in `survivors.toml`. The run fails if one is not explained there, or if an explained mutant was detected or
no longer exists.
"""

import argparse
import sys

from tests.mutation.mutmut_run import run
from tests.mutation.report import SURVIVORS, Reasons, compare, explained, score
from tests.mutation.suites import SUITES


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--again", action="store_true", help="try only the survivors of the last run")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(SUITES):
        parser.error(f"there is no suite {', '.join(sorted(unknown))}: choose from {', '.join(SUITES)}")
    reasons = explained(SURVIVORS.read_text(encoding="utf-8"))
    failures = [check(name, reasons, again=arguments.again) for name in arguments.suites or SUITES]
    sys.exit(any(failures))


def check(name: str, reasons: Reasons, *, again: bool) -> bool:
    """Prints the result; returns whether there are unexplained survivors or stale explanations."""
    mutants = run(name, SUITES[name], again=again)
    for module in SUITES[name].modules:
        print_line(score(module, [mutant for mutant in mutants if mutant.module == module], reasons))
    unexplained, stale = compare(mutants, reasons, SUITES[name].modules)
    for mutant in unexplained:
        print_line(f"\n{mutant.place}: {mutant.fate}\n  - {mutant.before}\n  + {mutant.after}")
    for place, before, after in stale:
        print_line(f"\n{place}: survivors.toml explains a mutant that does not survive\n  - {before}\n  + {after}")
    return bool(unexplained or stale)


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
