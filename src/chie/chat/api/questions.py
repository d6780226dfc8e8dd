"""Questions for a note, which the connected model suggests."""

from pydantic import BaseModel, ConfigDict, Field

from chie.chat.agents.model_agent import ModelAgent
from chie.chat.api.state import ChatState
from chie.errors import ConflictError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/chat", tags=["chat"])

MAX_TITLE = 1_000
MAX_CONTENT = 100_000


class NoteText(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    content: str = Field(min_length=1, max_length=MAX_CONTENT)
    title: str = Field(default="", max_length=MAX_TITLE)


class Questions(BaseModel):
    questions: list[str]


@router.post("/suggest-questions", responses=errors(409, 429))
async def suggest_note_questions(chat: ChatState, body: NoteText) -> Questions:
    """Two to five questions that the note answers, in Japanese and English, by the first agent that has a model.

    Nothing is stored. Without a connected model it is a 409 that says so.
    """
    for info in await chat.agents.list_agents():
        agent = chat.agents.get_agent(info["agent_id"]) if info["available"] else None
        if isinstance(agent, ModelAgent):
            await chat.limits.require(agent)
            async with chat.recorder.recording(agent):
                return Questions(questions=await agent.suggest_questions(title=body.title, content=body.content))
    raise ConflictError("agents.no_model")
