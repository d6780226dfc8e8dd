"""Dragging the map of 3,000 notes in Chromium: the time of a frame against the 16.7 ms that 60 frames a second allow.

Chromium draws in software here, without a graphics card. *CPU* is the CPU time of the page's own thread in a frame:
events, script, layout and recording what is to be painted; other programs on the machine hardly change it. *Interval*
is the time between two frames, which also has the painting on other threads and, on a busy machine, the waiting for a
core. The mouse is moved by DevTools. One frame is 16.7 ms: at most 1 is 60 frames a second.
"""

import json
import math
import random
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import CDPSession, Page, Route
from tests.e2e.app_process import app_process
from tests.e2e.browser import browser, chromium

from bench.figure import Figure
from bench.table import table

POINTS, STEPS = 3_000, 240
FRAME_MS = 1000 / 60
TAGS = [f"tag-{number}" for number in range(12)]

WATCH = """() => {
  window.intervals = []; window.going = true;
  let before = null;
  const frame = (now) => {
    if (before !== null) window.intervals.push(now - before);
    before = now;
    if (window.going) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def main() -> list[Figure]:
    if chromium() is None:
        return [Figure("the map", "Chie", None, why="there is no Chromium on this machine.")]
    with tempfile.TemporaryDirectory() as home, app_process(Path(home)) as (url, _), browser() as opened:
        page = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.request.post(f"{url}/api/knowledge", data={"content": "a page without notes has no map"})
        page.route("**/api/knowledge/map", _answer)
        page.goto(f"{url}/#/knowledge?map")
        page.locator(".kn-plane").wait_for()
        figures = []
        for what in ("a half more than the picture", "zoomed in further"):
            page.get_by_role("button", name="Zoom in").click()
            figures += _drag(page, what)
        return figures


def _answer(route: Route) -> None:
    """Clusters, as notes have them."""
    pick = random.Random(3)
    centres = [(pick.uniform(-0.8, 0.8), pick.uniform(-0.8, 0.8)) for _ in range(15)]
    points = []
    for number in range(POINTS):
        x, y = pick.choice(centres)
        angle, far = pick.uniform(0, 2 * math.pi), abs(pick.gauss(0, 0.12))
        x, y = (max(-1.0, min(1.0, value)) for value in (x + far * math.cos(angle), y + far * math.sin(angle)))
        tags = pick.sample(TAGS, k=pick.randrange(3))
        points.append({"id": f"k-{number:016x}", "title": f"メモ {number} about things", "tags": tags, "x": x, "y": y})
    route.fulfill(body=json.dumps({"points": points, "total": POINTS}), content_type="application/json")


def _drag(page: Page, what: str) -> list[Figure]:
    box = page.locator(".kn-plane").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
    devtools.send("Performance.enable")
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(WATCH)
    before = _cpu(devtools)
    for step in range(STEPS):
        turn = step / STEPS * 4 * math.pi
        page.mouse.move(x + 150 * math.sin(turn), y + 100 * math.sin(2 * turn))
    cpu = _cpu(devtools) - before
    intervals: list[float] = sorted(page.evaluate("() => { window.going = false; return window.intervals; }"))
    page.mouse.up()
    devtools.detach()
    name = f"{POINTS:,} notes, {what}"
    late = intervals[int(len(intervals) * 0.95)]
    return [
        Figure(f"{name}: CPU of a frame", "Chie", cpu / len(intervals) / FRAME_MS, "frames", 1),
        Figure(f"{name}: interval, median", "Chie", median(intervals) / FRAME_MS, "frames", 1),
        Figure(f"{name}: interval, 95 of 100", "Chie", late / FRAME_MS, "frames"),
    ]


def _cpu(devtools: CDPSession) -> float:
    """Milliseconds of the page's main thread so far."""
    metrics: dict[str, float] = {
        one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]
    }
    return metrics["TaskDuration"] * 1_000


if __name__ == "__main__":
    print(table(main()))
