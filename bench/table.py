"""Figures as a Markdown table: a row per measurement, a column per contestant."""

from collections.abc import Iterable, Sequence

from bench.figure import Figure

NONE = "—"
SHARE = "share"  # of 1; higher is better


def table(figures: Sequence[Figure]) -> str:
    """A missing figure has a dash, with the reason below the table."""
    whats, whos = (list(dict.fromkeys(names)) for names in zip(*((f.what, f.who) for f in figures), strict=True))
    cells = {(figure.what, figure.who): figure for figure in figures}
    aims = {figure.what: figure for figure in figures if figure.aim is not None}
    head = ["", *whos, *(["target"] if aims else [])]
    rows = []
    for what in whats:
        row = [what, *(shown(cells.get((what, who))) for who in whos)]
        rows.append([*row, _aim(aims.get(what))] if aims else row)
    return markdown(head, rows) + "".join(f"\n{reason}\n" for reason in reasons(figures))


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [tuple(head), *map(tuple, rows)]
    lines = ["| " + " | ".join(row) + " |\n" for row in cells]
    return "".join([lines[0], "|---" * len(cells[0]) + "|\n", *lines[1:]])


def shown(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return NONE if figure.value is None else with_unit(figure.value, figure.unit)


def with_unit(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == SHARE else f"{number(value)} {unit}".strip()


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def reasons(figures: Sequence[Figure]) -> list[str]:
    """One sentence for all figures that are missing for the same reason."""
    missing: dict[tuple[str, str], list[str]] = {}
    for figure in figures:
        if figure.value is None:
            missing.setdefault((figure.who, figure.why), []).append(figure.what)
    return [f"{who}, no figure for {'; '.join(whats)}: {why}" for (who, why), whats in missing.items()]


def _aim(figure: Figure | None) -> str:
    if figure is None or figure.aim is None:
        return ""
    return f"{'≥' if figure.unit == SHARE else '≤'} {with_unit(figure.aim, figure.unit)}"
