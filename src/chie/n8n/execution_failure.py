"""Why an execution failed: the node, its error, the item that it failed on, and the expressions that it evaluated."""

from collections.abc import Iterator
from typing import Any

from chie.n8n.execution_data import result_of, run_data, shown_item
from chie.n8n.models import Execution, Json
from chie.n8n.truncation import shorten

MAX_EXPRESSIONS = 5
ITEM_CHARACTERS, ITEM_ENTRIES = 300, 10  # of each text and each list of the item


def failure(execution: Execution) -> Json | None:
    """The failed node and its error; n8n stores the error at the top level, at the run, or at both."""
    error, node, run = _error(execution)
    if error is None:
        return None
    shown: Json = {"node": node} if node else {}
    shown["message"] = error.get("message") or error.get("name") or "no message"
    for key in ("description", "httpCode"):
        if error.get(key):
            shown[key] = error[key]
    return shown | _item(execution, error, run) | _cause(execution, error, node)


def _error(execution: Execution) -> tuple[Json | None, str | None, Json | None]:
    """The error, the name of its node, and the run in which it occurred."""
    result = result_of(execution)
    error, failed_run = result.get("error"), None
    node = _failing_node(error) or result.get("lastNodeExecuted")
    for name, runs in run_data(execution).items():
        for run in runs:
            if run.get("error") and (error is None or name == node):
                error, node, failed_run = run["error"], name, run
    return (error, node, failed_run) if isinstance(error, dict) else (None, None, None)


def _item(execution: Execution, error: Json, run: Json | None) -> Json:
    """The input item that the node failed on, if n8n names one or there is only one."""
    sources = [source for source in (run or {}).get("source") or [] if isinstance(source, dict)]
    if not sources:
        return {}
    origin = str(sources[0].get("previousNode"))
    items = _items(execution, origin, sources[0])
    index = _context(error).get("itemIndex", 0 if len(items) == 1 else None)
    if not isinstance(index, int) or not 0 <= index < len(items):
        return {}
    shown = shorten(shown_item(items[index]), ITEM_CHARACTERS, ITEM_ENTRIES)
    return {"item": {"index": index, "from": origin, "json": shown}}


def _items(execution: Execution, node: str, source: Json) -> list[Any]:
    runs = run_data(execution).get(node) or []
    number, output = source.get("previousNodeRun") or 0, source.get("previousNodeOutput") or 0
    if number >= len(runs):
        return []
    outputs = (runs[number].get("data") or {}).get("main") or []
    return (outputs[output] or []) if output < len(outputs) else []


def _cause(execution: Execution, error: Json, node: str | None) -> Json:
    """The line of a Code node, or the expressions of the parameter that n8n names, else of the whole node."""
    parameters = _parameters(execution, node)
    line, code = error.get("lineNumber"), parameters.get("jsCode") or parameters.get("pythonCode")
    if isinstance(line, int) and isinstance(code, str):
        lines = code.splitlines()
        return {"line": line, "code": lines[line - 1].strip()} if 0 < line <= len(lines) else {}
    context = _context(error)
    named = str(context.get("parameter") or "").removeprefix("parameters.")
    found = {path: text for path, text in _expressions(parameters) if _is_within(path, named)}
    if cause := context.get("nodeCause"):
        found = {path: text for path, text in found.items() if str(cause) in text} or found
    return {"expressions": dict(list(found.items())[:MAX_EXPRESSIONS])} if found else {}


def _is_within(path: str, parameter: str) -> bool:
    return not parameter or path == parameter or path.startswith((f"{parameter}.", f"{parameter}["))


def _expressions(value: Any, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Each expression with its path, as `setField` of patch_workflow takes it after `parameters.`"""
    match value:
        case str() if value.startswith("="):
            yield path, value
        case list():
            for index, item in enumerate(value):
                yield from _expressions(item, f"{path}[{index}]")
        case dict():
            for key, item in value.items():
                yield from _expressions(item, f"{path}.{key}" if path else str(key))


def _parameters(execution: Execution, name: str | None) -> Json:
    nodes = (execution.get("workflowData") or {}).get("nodes") or []
    found = next((node.get("parameters") for node in nodes if node.get("name") == name), None)
    return found if isinstance(found, dict) else {}


def _context(error: Json) -> Json:
    context = error.get("context")
    return context if isinstance(context, dict) else {}


def _failing_node(error: object) -> str | None:
    node = error.get("node") if isinstance(error, dict) else None
    return node.get("name") if isinstance(node, dict) else node if isinstance(node, str) else None
