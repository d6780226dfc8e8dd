"""Importing the exports of ChatGPT and Claude."""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import IO, Annotated, Any

from fastapi import File, Query, UploadFile
from fastapi.responses import StreamingResponse

from chie.chat.api.state import ChatState
from chie.chat.imports.importer import ImportReport
from chie.errors import ChieError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/sessions", tags=["sessions"])

LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report so far, one JSON object per line; the last one has `done`, or an error.",
        "model": ImportReport,
    }
}


class JSONLines(StreamingResponse):
    media_type = "application/x-ndjson"


@router.post("/import", response_class=JSONLines, responses={**LINES, **errors(413)})
async def import_sessions(
    file: Annotated[UploadFile, File(description="The ZIP of the export, or its `conversations.json`.")],
    chat: ChatState,
    dry_run: Annotated[bool, Query(description="Only report what would be imported.")] = False,
) -> JSONLines:
    """Import conversations with their branches, dates and titles. Repeating it adds only what is new."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115  closed when the response ends
    try:
        await asyncio.to_thread(shutil.copyfileobj, file.file, copy)
        copy.seek(0)
        reports = chat.importer.run(copy, agent_id=await chat.agents.preselected_id(), dry_run=dry_run)
        first = await anext(reports)
    except BaseException:
        copy.close()
        raise
    return JSONLines(_lines(first, reports, copy))


async def _lines(
    first: ImportReport, rest: AsyncGenerator[ImportReport, None], copy: IO[bytes]
) -> AsyncGenerator[str, None]:
    try:
        yield _line(asdict(first))
        async with aclosing(rest):
            async for report in rest:
                yield _line(asdict(report))
    except ChieError as error:  # the status is sent already
        yield _line({"detail": error.message, "code": error.code, "params": error.reason.json_params()})
    finally:
        copy.close()


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
