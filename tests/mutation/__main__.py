"""Mutation testing of the rules: `make mutants`, `make mutants ARGS="n8n"`, `make mutants ARGS="--again n8n"`.

Small faults are put into the rooms' rules, one at a time; a test or the type checker must notice each. Those that
nobody notices are explained in `survivors.toml`. The run fails if one is not, or if a reason there is about a mutant
that is noticed or gone.
"""

import argparse
import sys

from tests.mutation.report import SURVIVORS, Reasons, compare, explained, score
from tests.mutation.suites import SUITES
from tests.mutation.workshop import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--again", action="store_true", help="try only what nobody noticed the last time")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(SUITES):
        parser.error(f"no suite is called {', '.join(sorted(unknown))}: there are {', '.join(SUITES)}")
    reasons = explained(SURVIVORS.read_text(encoding="utf-8"))
    failures = [judge(name, reasons, again=arguments.again) for name in arguments.suites or SUITES]
    sys.exit(any(failures))


def judge(name: str, reasons: Reasons, *, again: bool) -> bool:
    """Whether something is wrong with the suite's mutants; says what."""
    mutants = run(name, SUITES[name], again=again)
    for module in SUITES[name].modules:
        say(score(module, [mutant for mutant in mutants if mutant.module == module], reasons))
    unexplained, stale = compare(mutants, reasons, SUITES[name].modules)
    for mutant in unexplained:
        say(f"\n{mutant.place}: {mutant.fate}\n  - {mutant.before}\n  + {mutant.after}")
    for place, before, after in stale:
        say(f"\n{place}: survivors.toml explains what does not survive\n  - {before}\n  + {after}")
    return bool(unexplained or stale)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
