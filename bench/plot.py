"""The comparisons as an SVG with one panel per figure, for light and dark pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bench.figure import Figure, Group
from bench.table import with_unit

WIDTH, MARGIN, COLUMNS = 860, 24, 2
NAMES, VALUES = 138, 112  # width of the names left of the bars, and of the numbers right of them
BAR, GAP, HEAD, FOOT = 18, 8, 46, 18

STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; fill: #3d444d }
  .title { font-weight: 600; font-size: 13px; fill: #1f2328 }
  .small, .none { font-size: 11px; fill: #59636e }
  .bar { fill: #b6bfca } .ours { fill: #0969da } .name-ours { font-weight: 600; fill: #1f2328 }
  .ground { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #c3ccd6 } .title, .name-ours { fill: #f0f6fc } .small, .none { fill: #9198a1 }
    .bar { fill: #4a525d } .ours { fill: #4493f8 } .ground { fill: #0d1117 }
  }
"""


@dataclass(frozen=True)
class Panel:
    title: str
    group: str
    what: str
    better: str = "lower is better"


PANELS = (
    Panel("Spawn to tools/list, CPU", "peer_stores", "spawn to tools/list, CPU"),
    Panel("Size of tools/list", "peer_stores", "tools/list"),
    Panel("A durable save, CPU", "peer_stores", "a save, CPU"),
    Panel("The right note among the first five", "peer_stores", "all, among five", "higher is better"),
    Panel("Chat: CPU per token, 64 streams", "peer_relays", "CPU a token, 64 streams"),
    Panel("Chat: memory, idle", "peer_relays", "memory, idle"),
    Panel("Chat: first token, 64 streams", "peer_relays", "first token, 64 streams"),
    Panel("Page: over the wire", "peer_page", "over the wire"),
)


def plot(groups: Mapping[str, Group]) -> str:
    panels = [(panel, bars) for panel in PANELS if (bars := _bars(groups, panel))]
    width = (WIDTH - MARGIN * (COLUMNS + 1)) / COLUMNS
    parts: list[str] = []
    y = float(MARGIN)
    for row in [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]:
        for column, (panel, bars) in enumerate(row):
            parts += _panel(panel, bars, MARGIN + column * (width + MARGIN), y, width)
        y += HEAD + max(len(bars) for _, bars in row) * (BAR + GAP) + FOOT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" role="img">\n'
        f"<title>Chie compared with other projects</title>\n<style>{STYLE}</style>\n"
        f'<rect class="ground" width="100%" height="100%" rx="8"/>\n{"".join(parts)}</svg>\n'
    )


def _bars(groups: Mapping[str, Group], panel: Panel) -> Sequence[Figure]:
    figures = groups[panel.group].figures if panel.group in groups else []
    return [figure for figure in figures if figure.what == panel.what]


def _panel(panel: Panel, bars: Sequence[Figure], x: float, y: float, width: float) -> Iterator[str]:
    yield _text(x, y + 14, "title", panel.title)
    yield _text(x, y + 30, "small", panel.better)
    most = max((bar.value or 0 for bar in bars), default=0) or 1
    for number, bar in enumerate(bars):
        top = y + HEAD + number * (BAR + GAP)
        ours, middle = bar.who == "Chie", top + BAR / 2 + 4
        yield _text(x, middle, "name-ours" if ours else "name", _short(bar.who))
        if bar.value is None:
            yield _text(x + NAMES, middle, "none", "not measured: see the table")
            continue
        length = max(2.0, (width - NAMES - VALUES) * bar.value / most)
        kind = "ours" if ours else "bar"
        yield f'<rect class="{kind}" x="{x + NAMES:.1f}" y="{top:.1f}" width="{length:.1f}" height="{BAR}" rx="3"/>\n'
        yield _text(x + NAMES + length + 6, middle, "value", with_unit(bar.value, bar.unit))


def _text(x: float, y: float, kind: str, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>\n'


def _short(who: str) -> str:
    """Without the version, which is in the table."""
    name, _, rest = who.partition(", ")
    words = [word for word in name.split() if not word[0].isdigit()]
    return " ".join(words) + {"by words": ", words", "by meaning and words": ", hybrid"}.get(rest, "")
