"""Recall on the labelled prompts and failed commands of `bench/sets/test`, through the hooks: what assistants are shown
when a note helps, and silence when none does. `python -m bench.recall --set dev` while choosing constants.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.corpus import fill
from bench.figure import Figure
from bench.table import SHARE, table
from chie.knowledge.embedding.cached import CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.recall import signatures
from chie.knowledge.recall.hooks import Event, Hooks
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

SETS = Path(__file__).parent / "sets"
LARGE = 10_000  # notes
BASE_URL = "http://127.0.0.1:8080"
WHO = "Chie"


@dataclass(frozen=True)
class Shown:
    """What a labelled case got."""

    kind: str
    context: str
    right: bool

    @property
    def is_passage(self) -> bool:
        return "<chie-notes>" in self.context


def read(name: str, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SETS / name / f"{file}.jsonl").read_text("utf-8").splitlines()]


@contextmanager
def labelled_notes(name: str, others: int = 0) -> Iterator[tuple[KnowledgeService, Mapping[str, str]]]:
    """A service with the notes and their questions beside generated `others`, and the stored id of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.db"
        if others:
            fill(path, others)
        store = SqliteStore(path, CachedEmbedder(OnnxEmbedder()))
        service = KnowledgeService(store)
        ids = {}
        for note in read(name, "notes"):
            questions = [question for language in note["questions"].values() for question in language]
            saved = service.save(note["content"], title=note.get("title"), tags=note["tags"], questions=questions)
            ids[note["id"]] = saved.id
        yield service, ids
        store.close()


def ask(hooks: Hooks, case: Mapping[str, Any], session: str) -> str:
    if "command" in case:
        arguments = {"command": case["command"]}
        event = Event("PostToolUseFailure", session, tool="Bash", arguments=arguments, error=case["error"])
    else:
        event = Event("UserPromptSubmit", session, prompt=case["text"])
    return hooks.handle(event, base_url=BASE_URL).context


def shown(hooks: Hooks, ids: Mapping[str, str], cases: Sequence[Mapping[str, Any]]) -> list[Shown]:
    found = []
    for number, case in enumerate(cases):
        context = ask(hooks, case, f"{case['kind']} {number} {id(cases)}")
        right = bool(case["note"]) and ids[case["note"]] in context
        found.append(Shown(case["kind"], context, right))
    return found


def of_prompts(results: Sequence[Shown]) -> list[Figure]:
    near, relevant = _of(results, "near"), _of(results, "relevant")
    helpless = [one for one in results if one.kind != "relevant"]
    return [
        Figure("ordinary prompts that stay silent", WHO, _silent(_of(results, "ordinary")), SHARE, aim=0.95),
        Figure("near misses without a passage", WHO, 1 - _share(one.is_passage for one in near), SHARE, aim=0.95),
        Figure("characters where no note helps, on average", WHO, _characters(helpless), "characters", aim=150),
        Figure("prompts that get the note that helps", WHO, _share(one.right for one in relevant), SHARE, aim=0.8),
    ]


def of_failures(results: Sequence[Shown]) -> list[Figure]:
    relevant = _of(results, "relevant")
    return [
        Figure("failures without a note that stay silent", WHO, _silent(_of(results, "ordinary")), SHARE, aim=0.9),
        Figure("failures of the same tool that stay silent", WHO, _silent(_of(results, "near")), SHARE),
        Figure("failures that get the note, by words", WHO, _share(one.right for one in relevant), SHARE, aim=0.8),
    ]


def of_signatures(name: str) -> list[Figure]:
    again, other = [], []
    for case in read(name, "signatures"):
        kept = signatures.kept_of(case["first"])
        again += [bool(signatures.recognised(kept, output)) for output in case["again"]]
        other += [not signatures.recognised(kept, output) for output in case["other"]]
    return [
        Figure("failures recognised by their signature", WHO, _share(again), SHARE, aim=0.98),
        Figure("other failures not taken for the same", WHO, _share(other), SHARE, aim=0.95),
    ]


def repeats(hooks: Hooks, cases: Sequence[Mapping[str, Any]]) -> int:
    """Notes that one session is shown twice when it gets every prompt twice."""
    contexts = [ask(hooks, case, "one session") for case in [*cases, *cases]]
    ids = [word for context in contexts for word in context.replace('"', " ").split() if word.startswith("k-")]
    return len(ids) - len(set(ids))


def round_trips(name: str) -> list[Figure]:
    """The time of a prompt's hook at 10,000 notes, against a search."""
    with labelled_notes(name, LARGE) as (service, _):
        hooks = Hooks(service)
        prompts = [case["text"] for case in read(name, "prompts") if case["kind"] != "trivial"][:200]
        of_hooks, of_searches = [], []
        for number, prompt in enumerate(prompts):
            service.store.search(f"{prompt} ", limit=10)  # the vector index is loaded
            of_searches.append(_seconds(partial(service.search, f"{prompt}  {number}")))
            of_hooks.append(_seconds(partial(ask, hooks, {"text": f"{number} {prompt}"}, f"{number}")))
    hook, search = np.percentile(of_hooks, 95), np.percentile(of_searches, 95)
    return [
        Figure("a prompt's hook at 10,000 notes, p95", WHO, 1000 * float(hook), "ms", aim=60),
        Figure("the same, as a multiple of a search", WHO, float(hook / search), "×", aim=2),
    ]


def main() -> list[Figure]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="test", choices=("dev", "test"))
    name = parser.parse_known_args()[0].set
    with labelled_notes(name) as (service, ids):
        hooks = Hooks(service)
        prompts = read(name, "prompts")
        figures = of_prompts(shown(hooks, ids, prompts)) + of_failures(shown(hooks, ids, read(name, "failures")))
        figures.append(Figure("notes shown twice in a session", WHO, repeats(hooks, prompts), "notes", aim=0))
    return figures + of_signatures(name) + round_trips(name)


def _of(results: Sequence[Shown], kind: str) -> list[Shown]:
    return [one for one in results if one.kind == kind]


def _share(values: Any) -> float:
    return float(np.mean([bool(value) for value in values]))


def _silent(results: Sequence[Shown]) -> float:
    return _share(not one.context for one in results)


def _characters(results: Sequence[Shown]) -> float:
    return float(np.mean([len(one.context) for one in results]))


def _seconds(do: Any) -> float:
    start = perf_counter()
    do()
    return perf_counter() - start


if __name__ == "__main__":
    print(table(main()))
