"""Saves notes until it is killed, and prints each id after saving."""

import itertools
import sys

from tests.fakes.embedders import HashingEmbedder

from chie.database.settings import database_url
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, open_store


def main() -> None:
    service = KnowledgeService(open_store(database_url(KnowledgeSettings()), HashingEmbedder()))
    for number in itertools.count():
        saved = service.save(f"writer {sys.argv[1]} note {number} " + "中身 " * number)
        sys.stdout.write(f"{saved.id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
