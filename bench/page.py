"""The web page: its weight, how soon one can type, and what a key press costs in a session of 400 messages.

Limits: 160 KB of JavaScript (gzip) before what is loaded on demand, one frame (16.7 ms) a key press. Where
CHIE_BENCH_OPEN_WEBUI names the address of an Open WebUI, its page is weighed in the same run.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page
from tests.e2e.browser import browser, chromium
from tests.e2e.house import house
from tests.e2e.long import long_session

LIMIT_KB = 160
FRAME_MS = 1000 / 60
MESSAGES = 400
KEYS = "the quick brown fox jumps over the lazy dog"

# From the key's own time stamp to the moment after the frame that shows it was handed over for painting.
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


def main() -> None:
    if chromium() is None:
        return print("no Chromium on this machine: nothing measured")
    with tempfile.TemporaryDirectory() as home, house(Path(home)) as (address, _), browser() as opened:
        ours = _median_load(opened, address, "#message")
        _report("Chie", ours)
        print(f"- JavaScript before lazy parts: {ours.script_kilobytes / LIMIT_KB:.2f} of the limit of {LIMIT_KB} KB")
        if peer := os.environ.get("CHIE_BENCH_OPEN_WEBUI"):
            theirs = _median_load(opened, peer, "body *")
            _report("Open WebUI", theirs)
            print(f"- Chie weighs {ours.kilobytes / theirs.kilobytes:.2f} of Open WebUI")
        session = long_session(Path(home), address, MESSAGES)
        _typing(opened, f"{address}/#/chat/{session}")
    return None


def _report(name: str, load: Load) -> None:
    print(
        f"- {name}: {load.requests} requests, {load.kilobytes:.0f} KB over the wire "
        f"({load.script_kilobytes:.0f} KB JavaScript), ready to type after {load.ready_ms:.0f} ms"
    )


def _median_load(opened: Browser, address: str, ready: str) -> Load:
    loads = [_load(opened, address, ready) for _ in range(5)]
    return Load(
        loads[0].requests, loads[0].kilobytes, loads[0].script_kilobytes, median(load.ready_ms for load in loads)
    )


def _load(opened: Browser, address: str, ready: str) -> Load:
    """`script_kilobytes` are those that the document itself names; what they fetch later is lazy."""
    page = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address, wait_until="commit")
    page.locator(ready).first.wait_for()
    ready_ms = float(page.evaluate("() => performance.now()"))
    page.wait_for_load_state("networkidle")
    sizes: dict[str, int] = page.evaluate(SIZES)
    named: list[str] = page.evaluate(NAMED)
    page.context.close()
    scripts = sum(sizes.get(name, 0) for name in named)
    return Load(len(sizes), sum(sizes.values()) / 1000, scripts / 1000, ready_ms)


def _typing(opened: Browser, address: str) -> None:
    page = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address)
    page.locator("article.assistant table").last.wait_for()
    _press(page, f"{MESSAGES} messages, idle")
    page.locator("#message").fill("")
    page.locator(".agent-button").click()
    page.get_by_role("menuitemcheckbox", name="Counting").click()
    page.locator("#message").fill("1000000")
    page.keyboard.press("Enter")
    page.get_by_text("10 11 12").wait_for()
    _press(page, f"{MESSAGES} messages, while an answer grows by 100 tokens a second")
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    heap: dict[str, Any] = devtools.send("Runtime.getHeapUsage")
    print(f"- heap with that session open: {heap['usedSize'] / 1e6:.0f} MB")
    page.locator(".send").click()


def _press(page: Page, name: str) -> None:
    page.evaluate(WATCH)
    page.locator("#message").press_sequentially(KEYS, delay=30)
    presses: list[float] = sorted(page.evaluate("() => window.presses"))
    long = float(page.evaluate("() => window.long"))
    middle, late = median(presses), presses[int(len(presses) * 0.95)]
    print(
        f"- key press, {name}: median {middle:.1f} ms ({middle / FRAME_MS:.2f} frames), p95 {late:.1f} ms; "
        f"long tasks {long:.0f} ms"
    )


if __name__ == "__main__":
    main()
