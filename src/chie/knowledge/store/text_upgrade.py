"""Upgrades what is derived from texts in rows that earlier versions wrote, the same in SQLite and PostgreSQL."""

import json
from collections.abc import Callable
from typing import Any

from chie.knowledge.review.findings import hashed

Run = Callable[..., list[Any]]
_STATE = ("id", "created_at", "updated_at", "confirmed_by", "confirmed_at")


def drop_decided_texts(run: Run, prefix: str) -> None:
    """Decisions had whole notes, and quoted them as the reason. What was decided stays, but cannot be undone: nothing
    tells which versions the notes were."""
    run(f"DELETE FROM {prefix}decisions")
    for key, finding, reason, text in run(f"SELECT id, finding, fingerprint, decision FROM {prefix}review_decisions"):
        stored = json.loads(text)
        fingerprint = hashed(finding, reason) if finding.startswith("contradiction:") else reason
        before = [{name: note[name] for name in _STATE} | {"version": 0} for note in stored["before"]]
        names = [note["id"] for note in stored["before"]]
        stored |= {"fingerprint": fingerprint, "notes": names, "before": before, "after": []}
        run(
            f"UPDATE {prefix}review_decisions SET fingerprint = ?, decision = ? WHERE id = ?",
            fingerprint,
            json.dumps(stored, ensure_ascii=False, separators=(",", ":")),
            key,
        )
