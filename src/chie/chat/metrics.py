"""What `/metrics` shows: counts, latencies and open streams, in Prometheus' words."""

import os
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from chie.chat.events import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNKNOWN = "unknown"
QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SLOW = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """A registry of its own, so that two houses in one process do not count each other's guests.

    Workers of one supervisor count in files of a folder that they share, and each tells the sum of all. `tools` tells
    what the tools are called now: models invent names, and a label stays for ever.
    """

    def __init__(self, tools: Callable[[], set[str]]) -> None:
        self._tool_names: set[str] = set()
        self._tools_now = tools
        self._registry = registry = CollectorRegistry()
        self._told = CollectorRegistry() if os.environ.get("PROMETHEUS_MULTIPROC_DIR") else registry
        if self._told is registry:
            ProcessCollector(registry=registry)
        else:
            MultiProcessCollector(self._told)  # type: ignore[no-untyped-call]
        self._requests = Counter(
            "chie_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry
        )
        self._latency = Histogram(
            "chie_http_response_start_seconds",
            "From a request to the start of its response.",
            ["route"],
            buckets=QUICK,
            registry=registry,
        )
        self.open_streams = Gauge(
            "chie_open_streams", "Readers of answers, now.", registry=registry, multiprocess_mode="livesum"
        )
        self._runs = Counter("chie_answers", "Answers, by how they ended.", ["agent", "status"], registry=registry)
        self._first = Histogram(
            "chie_first_event_seconds",
            "From the start of an agent to its first event.",
            ["agent"],
            buckets=QUICK,
            registry=registry,
        )
        self._seconds = Histogram(
            "chie_answer_seconds", "How long answers took.", ["agent"], buckets=SLOW, registry=registry
        )
        self._tokens = Counter("chie_tokens", "Tokens, as models told.", ["agent", "direction"], registry=registry)
        self._tools = Counter("chie_tool_calls", "Tool calls.", ["tool", "outcome"], registry=registry)

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, status).inc()
        self._latency.labels(route).observe(seconds)

    def first_event(self, agent: str, seconds: float) -> None:
        self._first.labels(agent).observe(seconds)

    def run_ended(self, agent: str, status: str, seconds: float, usage: Usage | None) -> None:
        self._runs.labels(agent, status).inc()
        self._seconds.labels(agent).observe(seconds)
        if usage is not None:
            self._tokens.labels(agent, "input").inc(usage["input_tokens"])
            self._tokens.labels(agent, "output").inc(usage["output_tokens"])

    def tool_ended(self, tool: str, *, is_error: bool) -> None:
        self._tools.labels(self._label(tool, is_error=is_error), "failed" if is_error else "answered").inc()

    def _label(self, tool: str, *, is_error: bool) -> str:
        """What has answered is a tool; an agent may have some that no server offers."""
        if tool not in self._tool_names:
            if is_error and tool not in self._tools_now():
                return UNKNOWN
            self._tool_names.add(tool)
        return tool

    def page(self) -> bytes:
        return generate_latest(self._told)
