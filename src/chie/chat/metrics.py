"""The Prometheus metrics of the chat: counts, latencies and open streams."""

import os
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from chie.chat.sessions.usage_entry import NANO, UsageEntry

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNKNOWN_TOOL = "unknown"
SHORT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
LONG_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Has its own registry, so that several apps in one process do not mix their counts.

    Workers of one supervisor share a folder of counter files, and each reports the sum. `tools` returns the names of
    the current tools: models invent names, and a label is kept for the life of the process.
    """

    def __init__(self, tools: Callable[[], set[str]]) -> None:
        self._tool_names: set[str] = set()
        self._current_tools = tools
        self._registry = registry = CollectorRegistry()
        self._reported = CollectorRegistry() if os.environ.get("PROMETHEUS_MULTIPROC_DIR") else registry
        if self._reported is registry:
            ProcessCollector(registry=registry)
        else:
            MultiProcessCollector(self._reported)  # type: ignore[no-untyped-call]
        self._requests = Counter(
            "chie_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry
        )
        self._latency = Histogram(
            "chie_http_response_start_seconds",
            "Time from a request to the start of its response.",
            ["route"],
            buckets=SHORT_BUCKETS,
            registry=registry,
        )
        self.open_streams = Gauge(
            "chie_open_streams", "Clients that are reading an answer.", registry=registry, multiprocess_mode="livesum"
        )
        self._runs = Counter("chie_answers", "Answers by final status.", ["agent", "status"], registry=registry)
        self._first = Histogram(
            "chie_first_event_seconds",
            "Time from the start of an agent to its first event.",
            ["agent"],
            buckets=SHORT_BUCKETS,
            registry=registry,
        )
        self._seconds = Histogram(
            "chie_answer_seconds", "Duration of answers.", ["agent"], buckets=LONG_BUCKETS, registry=registry
        )
        self._tokens = Counter(
            "chie_tokens", "Tokens, as reported by models.", ["agent", "direction"], registry=registry
        )
        self._model_requests = Counter(
            "chie_model_requests",
            "Requests to models, by whether the price is known.",
            ["agent", "price"],
            registry=registry,
        )
        self._cost = Counter(
            "chie_model_cost_dollars", "Cost of requests to models in US dollars.", ["agent"], registry=registry
        )
        self._tools = Counter("chie_tool_calls", "Tool calls.", ["tool", "outcome"], registry=registry)

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, status).inc()
        self._latency.labels(route).observe(seconds)

    def first_event(self, agent: str, seconds: float) -> None:
        self._first.labels(agent).observe(seconds)

    def run_ended(self, agent: str, status: str, seconds: float) -> None:
        self._runs.labels(agent, status).inc()
        self._seconds.labels(agent).observe(seconds)

    def models_used(self, entries: Iterable[UsageEntry]) -> None:
        for entry in entries:
            self._tokens.labels(entry.agent_id, "input").inc(entry.input_tokens)
            self._tokens.labels(entry.agent_id, "output").inc(entry.output_tokens)
            self._tokens.labels(entry.agent_id, "cached").inc(entry.cached_tokens)
            self._tokens.labels(entry.agent_id, "cache_write").inc(entry.cache_write_tokens)
            self._tokens.labels(entry.agent_id, "reasoning").inc(entry.reasoning_tokens)
            price = "unknown" if entry.cost is None else "known"
            self._model_requests.labels(entry.agent_id, price).inc()
            self._cost.labels(entry.agent_id).inc((entry.cost or 0) / NANO)

    def tool_ended(self, tool: str, *, is_error: bool) -> None:
        self._tools.labels(self._label(tool, is_error=is_error), "failed" if is_error else "answered").inc()

    def _label(self, tool: str, *, is_error: bool) -> str:
        """A tool that returned a result exists, even if no server lists it: agents may have tools of their own."""
        if tool not in self._tool_names:
            if is_error and tool not in self._current_tools():
                return UNKNOWN_TOOL
            self._tool_names.add(tool)
        return tool

    def page(self) -> bytes:
        return generate_latest(self._reported)
