"""Shows the user what a call would do while it waits for approval."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chie.chat.events import ToolCall, ToolPreview
from chie.chat.interaction import current_call
from chie.chat.toolbox.tool import Tool, Toolset

logger = logging.getLogger(__name__)

PREVIEW_SECONDS = 10.0
LAST_SECONDS = 1.0


@asynccontextmanager
async def previewing(toolset: Toolset, tool: Tool, call: ToolCall) -> AsyncGenerator[None, None]:
    """The question does not wait for the preview. The call does, a moment: afterwards it would show what has already
    changed."""
    task = asyncio.create_task(_report(toolset, tool, call))
    try:
        yield
        await asyncio.wait({task}, timeout=LAST_SECONDS)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _report(toolset: Toolset, tool: Tool, call: ToolCall) -> None:
    running = current_call()
    if running is None:
        return
    try:
        async with asyncio.timeout(PREVIEW_SECONDS):
            preview = await toolset.preview(tool, call["arguments"])
    except TimeoutError:
        logger.info("tool %s has no preview after %g s", tool.name, PREVIEW_SECONDS)
        return
    if preview is not None:
        running.interaction.report(ToolPreview(type="tool_preview", id=call["id"], preview=preview))
