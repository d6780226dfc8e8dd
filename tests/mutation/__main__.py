"""Mutation testing of the rules: `make mutants`, `make mutants ARGS="n8n"`, `make mutants ARGS="--again n8n"`.

Small faults are put into the rooms' rules, one at a time; a test or the type checker must notice each. Those that
nobody notices are explained in `survivors.toml`, with reasons. The run fails if one is not, or if a reason there is
about a mutant that is noticed now.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutation.mutant import Mutant
from tests.mutation.suites import SUITES
from tests.mutation.workshop import run

SURVIVORS = Path(__file__).with_name("survivors.toml")

Key = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--again", action="store_true", help="try only what nobody noticed the last time")
    arguments = parser.parse_args()
    reasons = explained(SURVIVORS.read_text(encoding="utf-8"))
    failures = [judge(name, reasons, again=arguments.again) for name in arguments.suites or SUITES]
    sys.exit(any(failures))


def explained(text: str) -> dict[Key, str]:
    """Every mutant that has a reason."""
    return {
        (entry["place"], entry["before"], after): entry["reason"]
        for entry in tomllib.loads(text).get("survivor", [])
        for after in entry["after"]
    }


def judge(name: str, reasons: dict[Key, str], *, again: bool) -> bool:
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


def compare(
    mutants: Sequence[Mutant], reasons: dict[Key, str], modules: Sequence[str]
) -> tuple[list[Mutant], list[Key]]:
    """The survivors without a reason, and the reasons without a survivor."""
    survivors = {_key(mutant): mutant for mutant in mutants if not mutant.is_noticed and not mutant.is_wording}
    unexplained = [mutant for key, mutant in survivors.items() if key not in reasons]
    return unexplained, [key for key in reasons if key[0].split()[0] in modules and key not in survivors]


def score(module: str, mutants: Sequence[Mutant], reasons: dict[Key, str]) -> str:
    tests = _count(mutant.fate == "test" for mutant in mutants)
    types = _count(mutant.fate == "type" for mutant in mutants)
    left = [mutant for mutant in mutants if not mutant.is_noticed]
    wording = _count(mutant.is_wording for mutant in left)
    known = _count(_key(mutant) in reasons and not mutant.is_wording for mutant in left)
    share = (tests + types) / (len(mutants) - wording)
    return (
        f"{module}: {share:.1%} of {len(mutants) - wording} mutants noticed ({tests} by tests, {types} by types); "
        f"{known} survivors explained, {len(left) - wording - known} not; {wording} changed a sentence's look"
    )


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _key(mutant: Mutant) -> Key:
    return mutant.place, mutant.before, mutant.after


def _count(truths: Iterable[bool]) -> int:
    return sum(1 for truth in truths if truth)


if __name__ == "__main__":
    main()
