"""Scripted agents, each with one behaviour that the page must handle."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from tests.fakes.agents import CautiousAgent, EchoAgent, FailingAgent, FakeAgent, FakeRegistry, SickAgent, done, text

from chie.chat.agents.base import AgentInfo, Approve, Attachment, Turn
from chie.chat.events import Done, Event, ReasoningText, ToolCall, ToolResult, Usage
from chie.chat.models.errors import ModelError
from chie.documents.images import image_size

HITS: list[dict[str, Any]] = [
    {
        "id": "k-00000000000000a1",
        "title": "nginx の接続数を上げる手順",
        "content": "まず worker_connections を 4096 に上げ、その後で ulimit を確認する。再起動は不要。",
        "score": 0.91,
        "tags": ["nginx", "障害対応"],
        "source": "https://wiki.example.test/runbooks/nginx",
        "updated_at": "2026-10-02T09:00:00Z",
    },
    {
        "id": "k-00000000000000b2",
        "title": "Outage of 12 September: connection limits",
        "content": "The proxy refused connections at 1,024 a worker. Raising worker_connections fixed it in a minute.",
        "score": 0.83,
        "tags": ["nginx", "postmortem"],
        "source": None,
        "updated_at": "2026-09-13T18:20:00Z",
    },
]

GUIDE = """**結論：**`worker_connections` を先に上げます。これは**「再起動なし」**で反映できます [1]。

| 設定 | 既定 | 推奨 |
|---|---:|---:|
| worker_connections | 512 | 4096 |
| worker_rlimit_nofile | — | 8192 |

```nginx
events {
    worker_connections 4096;  # reload で反映
}
```

9 月の障害でも同じ対処で復旧しています [2]。
"""

XSS = """<script>window.hacked = 1</script>
<img src=x onerror="window.hacked = 2">
<svg onload="window.hacked = 3"><a href="javascript:window.hacked = 4">svg</a></svg>
<iframe srcdoc="<script>parent.hacked = 5</script>"></iframe>

[click me](javascript:window.hacked=6) [data](data:text/html,<script>hacked=7</script>) [vb](vbscript:hacked)
[ok](https://example.test/ok) <https://example.test/auto>

![tracker](https://evil.example.test/pixel.png?secret=1)

```mermaid
graph TD; A["<img src=x onerror='window.hacked = 8'>"] --> B
```

| <b>cell</b> | `<script>window.hacked = 9</script>` |
|---|---|
| x | y |
"""


class GuideAgent(FakeAgent):
    """Looks something up and answers with numbered sources."""

    id = "guide"

    @property
    def name(self) -> str:
        return "Guide"

    def supports_mcp(self) -> bool:
        return True

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield ToolCall(type="tool_call", id="1", name="search_knowledge", arguments={"query": message[:60], "limit": 2})
        await asyncio.sleep(0.05)
        content = json.dumps({"hits": HITS}, ensure_ascii=False)
        yield ToolResult(type="tool_result", id="1", name="search_knowledge", content=content, is_error=False)
        for start in range(0, len(GUIDE), 12):
            yield text(GUIDE[start : start + 12])
            await asyncio.sleep(0.005)
        yield done(Usage(input_tokens=812, output_tokens=143))


class CountingAgent(FakeAgent):
    """Counts to the number in the question, one number every 10 ms."""

    id = "counting"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for number in range(int(message)):
            yield text(f"{number} ")
            await asyncio.sleep(0.01)
        yield done(Usage(input_tokens=1, output_tokens=int(message)))


class DoubtfulAgent(FakeAgent):
    """Calls two destructive tools at once."""

    id = "doubtful"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        calls = [
            ToolCall(type="tool_call", id=f"c{n}", name=name, arguments={"id": f"k-{n}"}, approval="required")
            for n, name in enumerate(["delete_knowledge", "delete_workflow"])
        ]
        for call in calls:
            yield call
        assert approve is not None
        for call, allowed in zip(calls, await asyncio.gather(*map(approve, calls)), strict=True):
            content = "deleted" if allowed else "denied by the user"
            yield ToolResult(
                type="tool_result", id=call["id"], name=call["name"], content=content, is_error=not allowed
            )
        yield text("Finished.")
        yield done()


DIAGRAMS = """次の流れです。

```mermaid
graph TD
  A["受付"] --> B{"確認"}
  B -->|"問題なし"| C["公開"]
```

```mermaid
graph TD; this is no diagram -->
```

```mermaid
%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%
graph TD
  A["<img src=x onerror='parent.hacked = 1; window.hacked = 1'>"] --> B["<script>top.hacked = 2</script>"]
  click A "javascript:parent.hacked = 3"
  click B call hack()
```
"""


class DiagramAgent(FakeAgent):
    """Answers with a diagram, an invalid one and a malicious one."""

    id = "diagram"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text(DIAGRAMS)
        yield done()


class LearnedAgent(FakeAgent):
    """Cites the last of a dozen sources in every sentence."""

    id = "learned"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        hits = [
            {"id": f"k-{number}", "title": f"出典 {number} {'長い題' * 9}", "content": "本文"}
            for number in range(1, 13)
        ]
        content = json.dumps({"hits": hits}, ensure_ascii=False)
        yield ToolCall(type="tool_call", id="1", name="search_knowledge", arguments={"query": message[:60]})
        yield ToolResult(type="tool_result", id="1", name="search_knowledge", content=content, is_error=False)
        for length in range(12, 40):
            yield text(f"{'字' * length} [12]。\n\n")
        yield done()


class LimitedAgent(FakeAgent):
    """The token limit truncates its first answer in a conversation."""

    id = "limited"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        first = message == "長く"
        yield text("前半です。" if first else "後半です。")
        yield Done(type="done", usage=None, finish="length") if first else done()


class PensiveAgent(FakeAgent):
    """Thinks until it is told to answer, by a file; some questions cut it off."""

    id = "pensive"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for piece in (
            "条件を並べると、",
            "鍵は二つある。\n",
            "Is <b>one</b> of them enough? " * 30,
            "\nたぶん一つで足りる。",
        ):
            yield ReasoningText(type="reasoning", content=piece)
        while message.startswith("/") and not Path(message).exists():  # noqa: ASYNC110, ASYNC240  another process
            await asyncio.sleep(0.02)
        if message == "cut":
            raise ModelError("models.reasoning_truncated", model="qwen3")
        if message == "limit":
            yield Done(type="done", usage=None, finish="length")
            return
        yield text("一つで**足ります**。")
        yield done()


FORMULA = ("面積は次のとおりです。\n\n\\[\nS_1 * S_2", " = \\int_0^1 x^2\\,dx\n\\]\n\nThat is \\(\\frac", "{1}{3}\\).")


class MathematicianAgent(FakeAgent):
    """Writes formulas piece by piece, the first of which ends once a file is there."""

    id = "mathematician"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        first, *others = FORMULA
        yield text(first)
        while not Path(message).exists():  # noqa: ASYNC110, ASYNC240  another process
            await asyncio.sleep(0.02)
        for piece in others:
            yield text(piece)
        yield done()


class BareAgent(FakeAgent):
    """Calls a tool without arguments."""

    id = "bare"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield ToolCall(type="tool_call", id="1", name="n8n_health", arguments={})
        yield ToolResult(type="tool_result", id="1", name="n8n_health", content="ok", is_error=False)
        yield text("- [x] 確認済み\n- [ ] not yet")
        yield done()


class FilteredAgent(FakeAgent):
    """The provider's content filter stops its answer."""

    id = "filtered"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("Half of")
        yield Done(type="done", usage=None, finish="content_filter")


class HostileAgent(FakeAgent):
    """Answers with markup and scripts, all of which must stay text."""

    id = "hostile"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield ToolCall(type="tool_call", id="1", name="<img src=x onerror=hacked=1>", arguments={"q": XSS})
        hits = [{"id": "<svg>", "title": "<script>hacked=1</script>", "content": XSS, "source": "javascript:hacked=1"}]
        content = json.dumps({"hits": hits})
        yield ToolResult(type="tool_result", id="1", name="x", content=content, is_error=False)
        yield text(XSS)
        yield done()


class ViewerAgent(FakeAgent):
    """Sees images, and says what it got."""

    id = "viewer"

    async def get_agent_info(self) -> AgentInfo:
        return {**await super().get_agent_info(), "sees_images": True}

    async def stream_chat(
        self,
        message: str,  # noqa: ARG002
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002
        attachments: Sequence[Attachment] = (),
    ) -> AsyncGenerator[Event, None]:
        for file in attachments:
            size = image_size(file["media_type"], file["data"]) if "data" in file else len(file.get("text", ""))
            yield text(f"{file['name']}: {file['media_type']}, {size}\n\n")
        yield text(f"{len(attachments)} files.")
        yield done()


def directory() -> FakeRegistry:
    kinds = [
        GuideAgent, EchoAgent, CountingAgent, CautiousAgent, DoubtfulAgent, FailingAgent, HostileAgent, SickAgent,
        DiagramAgent, LearnedAgent, LimitedAgent, FilteredAgent, PensiveAgent, ViewerAgent, MathematicianAgent,
        BareAgent,
    ]  # fmt: skip
    return FakeRegistry(*(kind() for kind in kinds))
