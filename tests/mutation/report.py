"""The report of a run: unexplained survivors, stale explanations, and the score."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutant import Mutant

SURVIVORS = Path(__file__).with_name("survivors.toml")

Key = tuple[str, str, str]
Reasons = dict[Key, str]


def explained(text: str) -> Reasons:
    """The explained mutants, with their reasons."""
    return {
        (entry["place"], entry["before"], after): entry["reason"]
        for entry in tomllib.loads(text).get("survivor", [])
        for after in entry["after"]
    }


def compare(mutants: Sequence[Mutant], reasons: Reasons, modules: Sequence[str]) -> tuple[list[Mutant], list[Key]]:
    """The survivors without a reason, and the reasons without a survivor."""
    survivors = {_key(mutant): mutant for mutant in mutants if not mutant.is_noticed and not mutant.is_wording}
    unexplained = [mutant for key, mutant in survivors.items() if key not in reasons]
    return unexplained, [key for key in reasons if key[0].split()[0] in modules and key not in survivors]


def score(module: str, mutants: Sequence[Mutant], reasons: Reasons) -> str:
    tests = sum(mutant.fate == "test" for mutant in mutants)
    types = sum(mutant.fate == "type" for mutant in mutants)
    left = [mutant for mutant in mutants if not mutant.is_noticed]
    wording = sum(mutant.is_wording for mutant in left)
    known = sum(_key(mutant) in reasons and not mutant.is_wording for mutant in left)
    counted = len(mutants) - wording
    detected = f"{(tests + types) / counted:.1%} of {counted} mutants detected"
    return (
        f"{module}: {detected} ({tests} by tests, {types} by types); "
        f"{known} survivors explained, {len(left) - wording - known} not; {wording} changed only the wording"
    )


def _key(mutant: Mutant) -> Key:
    return mutant.place, mutant.before, mutant.after
