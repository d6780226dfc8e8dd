"""The registered tools by name."""

from collections.abc import Iterator
from typing import Any

from chie.n8n.tool import BaseTool, ToolDefinition


class ToolRegistry:
    def __init__(self) -> None:
        self._tools: dict[str, BaseTool[Any]] = {}

    def register(self, tool: BaseTool[Any]) -> None:
        if tool.name in self._tools:
            raise ValueError(f"tool {tool.name} is already registered")
        self._tools[tool.name] = tool

    def get(self, name: str) -> BaseTool[Any]:
        return self._tools[name]

    def definitions(self) -> list[ToolDefinition]:
        return [tool.to_definition() for tool in self]

    def __iter__(self) -> Iterator[BaseTool[Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: str) -> bool:
        return name in self._tools
