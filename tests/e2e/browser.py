"""Debian's Chromium, driven by Playwright, without background network activity."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
"""The shell first: it renders the same without the windows of a browser, for a third less CPU."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    named = os.environ.get("CHIE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    path = chromium()
    assert path, "no Chromium on this machine"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield opened
        finally:
            opened.close()
