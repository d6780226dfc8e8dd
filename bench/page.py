"""The web page: its size, time until the user can type, and what a key press costs in a session of 400 messages.

Limits: 170 KB of JavaScript (gzip) before what is loaded on demand, one frame (16.7 ms) a key press.
"""

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as Late
from tests.e2e.app_process import app_process
from tests.e2e.browser import browser, chromium
from tests.e2e.long_sessions import long_session

from bench.figure import Figure
from bench.table import table

LIMIT_KB = 170
FRAME_MS = 1000 / 60
MESSAGES = 400
KEYS = "the quick brown fox jumps over the lazy dog"

# From the timestamp of the key press until after the frame that shows it was submitted for painting.
WATCH = """() => {
  window.presses = []; window.long = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) window.long += one.duration; })
    .observe({ type: "longtask" });
  document.querySelector("#message").addEventListener("input", (event) => {
    const began = event.timeStamp;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.presses.push(performance.now() - began);
      channel.port2.postMessage(0);
    });
  });
}"""


SIZES = """() => Object.fromEntries(
  performance.getEntries().filter((one) => "encodedBodySize" in one).map((one) => [one.name, one.encodedBodySize]))"""

NAMED = """async () => {
  const text = await (await fetch(location.href)).text();
  return [...text.matchAll(/(?:src|href)="([^"]+\\.js)"/g)].map(([, path]) => new URL(path, location.href).href);
}"""


@dataclass
class Load:
    requests: int
    kilobytes: float
    script_kilobytes: float
    ready_ms: float


def main() -> list[Figure]:
    if chromium() is None:
        return [Figure("the page", "Chie", None, why="there is no Chromium on this machine.")]
    with tempfile.TemporaryDirectory() as home, app_process(Path(home)) as (url, _), browser() as opened:
        figures = weight("Chie", median_load(opened, url, "#message"), aim=LIMIT_KB)
        session = long_session(Path(home), url, MESSAGES)
        return [*figures, *_typing(opened, f"{url}/#/chat/{session}")]


def weight(who: str, load: Load, *, aim: float | None = None) -> list[Figure]:
    return [
        Figure("requests of an empty chat", who, load.requests),
        Figure("over the wire", who, load.kilobytes, "KB"),
        Figure("JavaScript before what is loaded on demand", who, load.script_kilobytes, "KB", aim),
        Figure("ready to type", who, load.ready_ms, "ms"),
    ]


def median_load(opened: Browser, url: str, ready: str) -> Load:
    loads = [_load(opened, url, ready) for _ in range(5)]
    return Load(
        loads[0].requests, loads[0].kilobytes, loads[0].script_kilobytes, median(load.ready_ms for load in loads)
    )


def _load(opened: Browser, url: str, ready: str) -> Load:
    """`script_kilobytes` are those that the document itself names; what they fetch later is lazy."""
    page = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(url, wait_until="commit")
    page.locator(ready).first.wait_for()
    ready_ms = float(page.evaluate("() => performance.now()"))
    with suppress(Late):  # a page that polls is never idle
        page.wait_for_load_state("networkidle", timeout=10_000)
    sizes: dict[str, int] = page.evaluate(SIZES)
    named: list[str] = page.evaluate(NAMED)
    page.context.close()
    scripts = sum(sizes.get(name, 0) for name in named)
    return Load(len(sizes), sum(sizes.values()) / 1000, scripts / 1000, ready_ms)


def _typing(opened: Browser, url: str) -> list[Figure]:
    page = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(url)
    page.locator("article.assistant table").last.wait_for()
    idle = _press(page, f"a key press among {MESSAGES} messages")
    page.locator("#message").fill("")
    page.locator(".agent-button").click()
    page.get_by_role("menuitemcheckbox", name="Counting").click()
    page.locator("#message").fill("1000000")
    page.keyboard.press("Enter")
    page.get_by_text("10 11 12").wait_for()
    busy = _press(page, f"a key press among {MESSAGES} messages, an answer growing by 100 tokens a second")
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    heap: dict[str, Any] = devtools.send("Runtime.getHeapUsage")
    page.get_by_role("button", name="Stop").click()
    return [*idle, *busy, Figure("heap with that session open", "Chie", heap["usedSize"] / 1e6, "MB")]


def _press(page: Page, what: str) -> list[Figure]:
    page.evaluate(WATCH)
    page.locator("#message").press_sequentially(KEYS, delay=30)
    presses: list[float] = sorted(page.evaluate("() => window.presses"))
    long = float(page.evaluate("() => window.long"))
    middle, late = median(presses), presses[int(len(presses) * 0.95)]
    return [
        Figure(f"{what}, median", "Chie", middle / FRAME_MS, "frames", 1),
        Figure(f"{what}, 95 of 100", "Chie", late / FRAME_MS, "frames"),
        Figure(f"{what}, long tasks", "Chie", long, "ms"),
    ]


if __name__ == "__main__":
    print(table(main()))
