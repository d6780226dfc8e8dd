"""`make bench` measures Chie; `make bench ARGS=--peers` also compares it with other projects.

    --only NAME    only this group; may be repeated
    --no-write     print the figures without changing the documentation

The figures go to `bench/results.json`; the tables and the plot in `docs/` are generated from it.
"""

import argparse
import sys
from importlib import import_module

from bench.figure import Group, keep
from bench.table import table

OURS = (
    "startup",
    "hook",
    "cold_start",
    "size",
    "search",
    "saves",
    "versions",
    "links",
    "spaces",
    "retrieval",
    "recall",
    "review",
    "review_work",
    "secrets",
    "injections",
    "bedrock_kb",
    "n8n",
    "rehearsals",
    "agents",
    "chat",
    "workers",
    "page",
    "map_frames",
    "postgres",
)
PEERS = ("peer_stores", "peer_relays", "peer_page")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="the same as --only")
    parser.add_argument("--only", action="append", default=[], choices=OURS + PEERS, metavar="NAME")
    parser.add_argument(
        "--peers", action="store_true", help="also compare with other projects, which are installed for it"
    )
    parser.add_argument("--no-write", action="store_true")
    options, _ = parser.parse_known_args()
    chosen = [*options.names, *options.only] or [*OURS, *(PEERS if options.peers else ())]
    failed = [name for name in chosen if not measured(name, write=not options.no_write)]
    if not options.no_write:
        import_module("docs.generate").write()
    if failed:
        sys.exit(f"Not measured, for the reasons above: {', '.join(failed)}. The others are written.")


def measured(name: str, *, write: bool) -> bool:
    """False if the script failed; the other scripts still run."""
    module = import_module(f"bench.{name}")
    about = (module.__doc__ or "").partition("\n    python -m")[0].strip()
    print(f"## {name}\n\n{about}\n", flush=True)
    try:
        group = Group(about, module.main())
    except Exception as error:  # noqa: BLE001 - the edge of this program
        print(f"{name} failed: {type(error).__name__}: {error}\n", flush=True)
        return False
    print(f"{table(group.figures)}\n{group.when}, {group.machine}\n", flush=True)
    if write:
        keep(name, group)
    return True


if __name__ == "__main__":
    main()
