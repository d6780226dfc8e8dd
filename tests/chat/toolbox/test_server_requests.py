"""Which call a server's request is given to, and how much of it the user must see."""

from typing import Any

import mcp_types
import pytest

from chie.chat.events import Elicitation
from chie.chat.interaction import Answer, RunningCall
from chie.chat.toolbox.server_requests import MAX_SAMPLE, ServerRequests

pytestmark = pytest.mark.req("AG-10")

CONTEXT: Any = None  # of a request; not used
QUESTION = mcp_types.ElicitRequestURLParams(message="支払う？", url="https://pay.example.test/", elicitation_id="1")


class User:
    """Agrees to everything, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def report(self, event: object) -> None: ...

    async def ask(self, question: Elicitation) -> Answer:
        self.asked.append(question["message"])
        return Answer(action="accept")


async def asked(requests: ServerRequests) -> str:
    answer = await requests.elicit(CONTEXT, QUESTION)
    assert isinstance(answer, mcp_types.ElicitResult)
    return answer.action


async def test_question_of_an_older_server_reaches_the_only_run() -> None:
    requests, user = ServerRequests("pay"), User()
    first, second = (RunningCall(id=name, interaction=user) for name in ("a", "b"))
    with requests.during(first), requests.during(second):
        assert await asked(requests) == "accept"
    assert await asked(requests) == "cancel", "no call is running"
    assert user.asked == ["支払う？"]


@pytest.mark.parametrize("other", [RunningCall(id="b", interaction=User()), None], ids=["run", "v1"])
async def test_question_that_may_be_anothers_reaches_nobody(other: RunningCall | None) -> None:
    requests, user = ServerRequests("pay"), User()
    with requests.during(RunningCall(id="a", interaction=user)):
        with requests.during(other):
            assert await asked(requests) == "cancel"
        assert user.asked == []
        assert await asked(requests) == "accept"


async def test_user_sees_all_that_the_model_is_asked() -> None:
    requests, user, sent = ServerRequests("think"), User(), list[str]()

    async def sample(system: str, text: str, _: int) -> str:
        sent.append(f"{system}\n\n{text}")
        return "four"

    async def asking(text: str) -> Any:
        content = mcp_types.TextContent(type="text", text=text)
        message = mcp_types.SamplingMessage(role="user", content=content)
        params = mcp_types.CreateMessageRequestParams(messages=[message], max_tokens=9, system_prompt="Be brief.")
        return await requests.sample(CONTEXT, params)

    with requests.during(RunningCall(id="a", interaction=user, sample=sample)):
        long = "長い" * (MAX_SAMPLE // 2 - 20)
        assert (await asking(long)).content.text == "four"
        assert "more than" in (await asking(f"{long}{'!' * 100}")).message
    assert user.asked == sent
