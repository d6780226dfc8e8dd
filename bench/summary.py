"""The figures that the README shows, with their labels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.figure import Figure, Group
from bench.retrieval import KINDS
from bench.table import SHARE, markdown, shown, with_unit

CHIE = "Chie"


@dataclass(frozen=True)
class Headline:
    label: str
    group: str
    what: str
    against: str = ""  # the peer whose figure is shown next to ours


HEADLINES = (
    Headline("spawn to `tools/list`, relative to an empty FastMCP server", "startup", "spawn to tools/list, ratio"),
    Headline(
        "search among 100,000 notes, relative to a bare numpy scan on all cores",
        "search",
        "100,000 notes, a search, ratio",
    ),
    Headline("the same in CPU time", "search", "100,000 notes, CPU, ratio"),
    Headline(
        "recall of the ten nearest among 100,000 notes", "search", "100,000 notes, the ten nearest that are found"
    ),
    Headline("server memory after searching 100,000 notes", "search", "100,000 notes, the server's memory"),
    Headline(
        "durable save, relative to embedding plus plain SQLite inserts",
        "saves",
        "durable save, ratio to embedding and plain inserts together",
    ),
    Headline("`kb_answer`, added to a bare boto3 call", "bedrock_kb", "an answer, the model taking 0 ms, added"),
    Headline("n8n answer for 40 nodes, share of the API's JSON", "n8n", "a workflow of 40 nodes, share"),
    Headline("chat, CPU per token with 64 streams", "chat", "CPU a token, 64 streams", "bare relay, saves nothing"),
    Headline("chat, time to first token added to the model's, one stream", "chat", "first token, 1 stream, added"),
    Headline("the same with 64 streams", "chat", "first token, 64 streams, added", "bare relay, saves nothing"),
    Headline("app, first start to first answer, CPU", "chat", "first start to the first answer, CPU"),
    Headline("app, idle memory before the first question", "chat", "memory, idle"),
    Headline("the same after the first answer, with the model's SDK", "chat", "memory, after the first answer"),
    Headline("page, JavaScript without lazy-loaded parts", "page", "JavaScript before what is loaded on demand"),
    Headline(
        "page, key press with 400 messages while an answer streams",
        "page",
        "a key press among 400 messages, an answer growing by 100 tokens a second, median",
    ),
)


def summary(groups: Mapping[str, Group]) -> str:
    rows = []
    for line in HEADLINES:
        ours = _figure(groups, line.group, line.what, CHIE)
        if ours is None:
            continue
        other = _figure(groups, line.group, line.what, line.against)
        peer = f" ({line.against}: {shown(other)})" if other else ""
        rows.append((line.label, f"{shown(ours)}{_missed(ours)}{peer}", _aim(ours), _measured(groups[line.group])))
    return markdown(("figure", "result", "target", "measured"), rows)


def quality(groups: Mapping[str, Group]) -> str:
    """Found first / among five, one row per kind of search."""
    figures = groups["retrieval"].figures if "retrieval" in groups else ()
    cells = {(figure.who, figure.what): figure.value or 0.0 for figure in figures}
    rows = []
    for who in dict.fromkeys(figure.who for figure in figures):
        name = "**both, as Chie searches**" if who == CHIE else who
        pairs = [(cells[who, f"{kind}, found first"], cells[who, f"{kind}, among five"]) for kind in _KINDS]
        rows.append((name, *(f"{first:.2f} / {five:.2f}" for first, five in pairs)))
    measured = f"\nMeasured {_measured(groups['retrieval'])}.\n" if rows else ""
    return markdown(("search", *_KINDS), rows) + measured


_KINDS = (*KINDS.values(), "all")


def _measured(group: Group) -> str:
    """The day and the load: on a busy machine a figure says less."""
    load = re.search(r"load [\d.]+", group.machine)
    return f"{group.when[:10]}, {load[0]}" if load else group.when[:10]


def _figure(groups: Mapping[str, Group], group: str, what: str, who: str) -> Figure | None:
    figures = groups[group].figures if group in groups else ()
    return next((figure for figure in figures if (figure.what, figure.who) == (what, who)), None)


def _missed(figure: Figure) -> str:
    if figure.aim is None or figure.value is None:
        return ""
    missed = figure.value < figure.aim if figure.unit == SHARE else figure.value > figure.aim
    return ": missed" if missed else ""


def _aim(figure: Figure) -> str:
    return "" if figure.aim is None else with_unit(figure.aim, figure.unit)
