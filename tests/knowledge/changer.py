"""Takes notes through their whole life until it is killed, and prints each step after it is stored.

`lives NAME` changes notes of its own and renames a note that others link to; `same ID COUNT` changes one note that
other processes change too. With a third argument, no file may grow beyond that many bytes, as on a full disk.
"""

import itertools
import os
import resource
import signal
import sys
from collections.abc import Callable

from tests.fakes.embedders import HashingEmbedder

from chie.database.settings import database_url
from chie.errors import ConflictError
from chie.knowledge.history.history import History
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, open_store

LINKING = 4


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def lives(service: KnowledgeService, name: str) -> None:
    history = History(service)
    hub = service.save("the hub", title=f"Hub {name}-0").id
    for number in range(LINKING):
        service.save(f"{number} [[Hub {name}-0]]", title=f"Linking {name}-{number}")
    for number in itertools.count(1):
        padding = f" {name} 中身" * (number % 7 * 40)
        note = service.save(f"text 1{padding}", title=f"Life {name}-{number}").id
        say(note, 0)
        for at, step in enumerate(steps(service, history, note, padding)[: 2 + number % 5], 1):
            step()
            say(note, at)
        service.update(hub, title=f"Hub {name}-{number}")
        say(hub, "renamed", number)


def steps(service: KnowledgeService, history: History, note: str, padding: str) -> list[Callable[[], object]]:
    return [
        lambda: service.update(note, content=f"text 2{padding}"),
        lambda: service.update(note, content=f"text 3{padding} [[Hub]]"),
        lambda: service.delete(note),
        lambda: history.restore_trashed(note),
        lambda: service.delete(note),
        lambda: history.purge(note),
    ]


def same(service: KnowledgeService, note: str, count: int) -> None:
    """Its title follows its text, so that each change is one of links too."""
    for number in range(count):
        try:
            saved = service.update(note, title=f"Title {number} {note}", content=f"{os.getpid()} {number}")
        except ConflictError:
            continue
        say(note, saved.version)


def main() -> None:
    service = KnowledgeService(open_store(database_url(KnowledgeSettings()), HashingEmbedder()))
    if len(sys.argv) > 3 and sys.argv[1] == "lives":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
    if sys.argv[1] == "lives":
        lives(service, sys.argv[2])
    else:
        same(service, sys.argv[2], int(sys.argv[3]))


if __name__ == "__main__":
    main()
