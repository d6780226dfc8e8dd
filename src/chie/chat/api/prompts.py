"""The prompt library: a user's own prompts, and those that are shared with everybody."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictBool

from chie.chat.api.schemas import MAX_ID, Body
from chie.chat.api.state import ChatState
from chie.chat.sessions.prompts import MAX_NAME, MAX_PROMPTS, MAX_TEXT, PromptContent, PromptImport, SavedPrompt
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/prompts", tags=["prompts"])

PromptId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
VARIABLES = "May have variables: `{{name}}`, `{{name=default}}`, `{{name=one|two}}`, and `{{today}}`."
SHARED = "Everybody sees it; its author and admins change it."


class SavedPrompts(BaseModel):
    prompts: list[SavedPrompt]


class NewPrompt(Body):
    name: Name
    text: Text = Field(description=VARIABLES)
    shared: StrictBool = Field(default=False, description=SHARED)


class PromptChange(Body):
    name: Name | None = None
    text: Text | None = Field(default=None, description=VARIABLES)
    shared: StrictBool | None = Field(default=None, description=SHARED)


class PromptFile(Body):
    """The file of an export."""

    prompts: list[NewPrompt] = Field(max_length=MAX_PROMPTS)


@router.get("", responses=errors())
async def list_prompts(chat: ChatState) -> SavedPrompts:
    """List the caller's own prompts and the shared ones, by name."""
    return SavedPrompts(prompts=await chat.prompts.all())


@router.post("", status_code=201, responses=errors(413))
async def create_prompt(body: NewPrompt, chat: ChatState) -> SavedPrompt:
    """Save a prompt."""
    return await chat.prompts.create(PromptContent(**body.model_dump()))


@router.get("/export", responses=errors())
async def export_prompts(chat: ChatState) -> PromptFile:
    """Export the caller's own prompts as a file that `POST /api/prompts/import` reads."""
    own = [NewPrompt(name=one.name, text=one.text, shared=one.shared) for one in await chat.prompts.own()]
    headers = {"Content-Disposition": 'attachment; filename="chie-prompts.json"'}
    return JSONResponse(PromptFile(prompts=own).model_dump(), headers=headers)  # type: ignore[return-value]


@router.post("/import", responses=errors(413))
async def import_prompts(body: PromptFile, chat: ChatState) -> PromptImport:
    """Import prompts. Those that the caller has already are left out, so it can be repeated."""
    return await chat.prompts.add_all([PromptContent(**one.model_dump()) for one in body.prompts])


@router.get("/{prompt_id}", responses=errors(404))
async def get_prompt(prompt_id: PromptId, chat: ChatState) -> SavedPrompt:
    """Get a prompt of the caller's own, or a shared one."""
    return await chat.prompts.get(prompt_id)


@router.patch("/{prompt_id}", responses=errors(403, 404, 413))
async def change_prompt(prompt_id: PromptId, body: PromptChange, chat: ChatState) -> SavedPrompt:
    """Change a prompt. Only its author or an admin may."""
    return await chat.prompts.change(prompt_id, **body.model_dump(exclude_none=True))


@router.delete("/{prompt_id}", status_code=204, responses=errors(403, 404))
async def delete_prompt(prompt_id: PromptId, chat: ChatState) -> None:
    """Delete a prompt permanently. Only its author or an admin may."""
    await chat.prompts.delete(prompt_id)
