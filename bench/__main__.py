"""`make bench`: every figure, or those that are named: `make bench ARGS="startup search"`."""

import sys
from importlib import import_module

FIGURES = ("startup", "search", "saves", "retrieval", "bedrock_kb", "n8n", "agents", "chat", "workers", "page")


def main() -> None:
    for name in sys.argv[1:] or FIGURES:
        module = import_module(f"bench.{name}")
        print(f"## {name}\n\n{module.__doc__}\n", flush=True)
        module.main()
        print(flush=True)


if __name__ == "__main__":
    main()
