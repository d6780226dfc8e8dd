"""What n8n stores of an execution: the result, and the runs of its nodes."""

from typing import Any

from chie.n8n.models import Execution, Json


def result_of(execution: Execution) -> Json:
    data = execution.get("data")
    result = data.get("resultData") if isinstance(data, dict) else None
    return result if isinstance(result, dict) else {}


def run_data(execution: Execution) -> dict[str, list[Json]]:
    """Runs by node. A node that never ran may have null, which is skipped."""
    found = result_of(execution).get("runData") or {}
    return {name: [run for run in runs or () if isinstance(run, dict)] for name, runs in found.items()}


def shown_item(item: Any) -> Any:  # noqa: ANN401
    """The item's JSON; files are described, without their content."""
    if not isinstance(item, dict):
        return item
    shown = item.get("json", item)
    if isinstance(item.get("binary"), dict):
        files = {
            key: {part: value for part, value in file.items() if part != "data"} if isinstance(file, dict) else {}
            for key, file in item["binary"].items()
        }
        return {"json": shown, "binary": files}
    return shown
