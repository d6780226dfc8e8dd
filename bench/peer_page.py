"""Size of our page and of Open WebUI's: what an empty chat downloads, and the time until the user can type.

`CHIE_BENCH_OPEN_WEBUI` may be the URL of a running Open WebUI; otherwise one is installed and started.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.app_process import app_process
from tests.e2e.browser import browser, chromium

from bench.chat import MODEL, running
from bench.figure import Figure
from bench.page import median_load, weight
from bench.peer_relays import open_webui
from bench.peers import PeerMissingError, peers
from bench.table import table

COMPOSER = "#chat-input"


@contextmanager
def open_webui_url(home: Path) -> Iterator[tuple[str, str]]:
    if url := os.environ.get("CHIE_BENCH_OPEN_WEBUI"):
        yield "Open WebUI", url
        return
    with running(MODEL, "upstream") as upstream, open_webui(upstream.url, home) as server:
        yield server.name, server.url


def main() -> list[Figure]:
    if chromium() is None:
        return [Figure("the page", "Chie", None, why="there is no Chromium on this machine.")]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, browser() as opened:
        with app_process(Path(home)) as (url, _):
            figures = weight("Chie", median_load(opened, url, "#message"))
        peer = Path(home) / "peer"
        peer.mkdir()
        try:
            with open_webui_url(peer) as (who, theirs):
                return figures + weight(who, median_load(opened, theirs, COMPOSER))
        except PeerMissingError as error:
            return [*figures, Figure("over the wire", peers()["open-webui"].label, None, why=str(error))]


if __name__ == "__main__":
    print(table(main()))
