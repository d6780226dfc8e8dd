"""Uploading the files of a question, and reading them again."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import File, Header, Path, UploadFile
from fastapi.responses import PlainTextResponse, Response

from chie.chat.api.schemas import MAX_ID
from chie.chat.api.state import ChatState
from chie.chat.sessions.entities import Attachment
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/attachments", tags=["attachments"])

AttachmentId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]

CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {"format": "binary"}}}},
    304: {"description": "The file has not changed."},
}
# Revalidated every time, so that a browser shows nothing after the user has signed out.
CACHING = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
# A file is never a page of ours, even if it is opened by itself.
HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", **CACHING}


@router.post("", status_code=201, responses=errors(413))
async def upload(
    file: Annotated[UploadFile, File(description="An image, a document or a text.")], chat: ChatState
) -> Attachment:
    """Upload a file for a question. It is kept for a day, or as long as a session has it; uploading it again returns
    the same attachment."""
    return await chat.attachments.save(await chat.reader.read(file.filename or "", await file.read()))


@router.get("/{attachment_id}", response_class=Response, responses={**CONTENT, **errors(404)})
async def get_attachment(
    attachment_id: AttachmentId, chat: ChatState, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Get the file as it was uploaded. Only images are shown by a browser; everything else is downloaded."""
    [found] = await chat.attachments.get([attachment_id])
    tag = {"ETag": f'"{found.attachment_id}"'}
    if if_none_match == tag["ETag"]:
        return Response(status_code=304, headers={**HEADERS, **tag})
    return file_response(found, await chat.attachments.data(attachment_id), tag)


def file_response(file: Attachment, data: bytes, headers: Mapping[str, str] | None = None) -> Response:
    shown = "inline" if file.kind == "image" else "attachment"
    disposition = {"Content-Disposition": f"{shown}; filename*=UTF-8''{quote(file.name, safe='')}"}
    media_type = file.media_type if file.kind == "image" else "application/octet-stream"
    return Response(data, media_type=media_type, headers={**HEADERS, **disposition, **(headers or {})})


@router.get("/{attachment_id}/text", response_class=PlainTextResponse, responses=errors(404))
async def get_text(attachment_id: AttachmentId, chat: ChatState) -> PlainTextResponse:
    """Get the text of a document, as models read it."""
    return PlainTextResponse(await chat.attachments.text(attachment_id), headers=HEADERS)
