"""The comparison of two notes by the connected model."""

from pydantic import BaseModel, ConfigDict

from chie.chat.agents.model_agent import ModelAgent
from chie.chat.agents.note_comparison import Verdict
from chie.chat.api.questions import NoteText
from chie.chat.api.state import ChatState
from chie.errors import ConflictError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/chat", tags=["chat"])


class NotePair(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    older: NoteText
    newer: NoteText


class Opinion(BaseModel):
    verdict: Verdict
    reason: str
    merged: str


@router.post("/compare-notes", responses=errors(409, 429))
async def compare_two_notes(chat: ChatState, body: NotePair) -> Opinion:
    """Whether two notes say the same or contradict each other, and a draft that merges them, by the first agent that
    has a model.

    Nothing is stored. Without a connected model it is a 409 that says so.
    """
    for info in await chat.agents.list_agents():
        agent = chat.agents.get_agent(info["agent_id"]) if info["available"] else None
        if isinstance(agent, ModelAgent):
            await chat.limits.require(agent)
            async with chat.recorder.recording(agent):
                found = await agent.compare_notes(older=_whole(body.older), newer=_whole(body.newer))
            return Opinion(verdict=found.verdict, reason=found.reason, merged=found.merged)
    raise ConflictError("agents.no_model")


def _whole(note: NoteText) -> str:
    return f"{note.title}\n\n{note.content}".strip()
