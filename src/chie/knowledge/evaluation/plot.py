"""Scores as an SVG with one panel per figure, for light and dark pages."""

from collections.abc import Iterator, Sequence
from html import escape

from chie.knowledge.evaluation.score import Score

PANELS = {
    "recall1": "The right note first",
    "recall5": "The right note among five",
    "mrr": "Mean reciprocal rank",
    "no_answer": "Nothing found where no note answers",
}
WIDTH, NAMES, VALUES, MARGIN = 720, 220, 60, 20
BAR, GAP, HEAD = 18, 8, 34

STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK JP", sans-serif; fill: #3d444d }
  .title { font-weight: 600; font-size: 13px; fill: #1f2328 }
  .bar { fill: #0969da } .ground { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #c3ccd6 } .title { fill: #f0f6fc } .bar { fill: #4493f8 } .ground { fill: #0d1117 }
  }
"""


def plot(scores: Sequence[Score]) -> str:
    panels = [(name, title) for name, title in PANELS.items() if any(getattr(one, name) is not None for one in scores)]
    height = MARGIN + len(panels) * (HEAD + len(scores) * (BAR + GAP) + GAP) + MARGIN
    parts = list[str]()
    y = MARGIN
    for name, title in panels:
        parts += _panel(title, [(one.name, getattr(one, name)) for one in scores], y)
        y += HEAD + len(scores) * (BAR + GAP) + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">\n'
        f"<title>chie eval</title>\n<style>{STYLE}</style>\n"
        f'<rect class="ground" width="100%" height="100%" rx="8"/>\n{"".join(parts)}</svg>\n'
    )


def _panel(title: str, bars: Sequence[tuple[str, float | None]], y: int) -> Iterator[str]:
    yield _text(MARGIN, y + 14, title, "title")
    for number, (name, value) in enumerate(bars):
        top = y + HEAD - GAP + number * (BAR + GAP)
        yield _text(MARGIN, top + BAR - 5, name)
        length = (WIDTH - NAMES - VALUES - 2 * MARGIN) * (value or 0.0)
        yield f'<rect class="bar" x="{NAMES}" y="{top}" width="{max(length, 1):.1f}" height="{BAR}" rx="3"/>\n'
        yield _text(NAMES + length + 8, top + BAR - 5, "–" if value is None else f"{value:.3f}")


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(text)}</text>\n'
