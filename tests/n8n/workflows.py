"""Strategies for valid workflows."""

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

KINDS = ["n8n-nodes-base.webhook", "n8n-nodes-base.set", "n8n-nodes-base.if", "@n8n/n8n-nodes-langchain.agent"]

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="⟦"), max_size=12)
names = st.one_of(
    st.sampled_from(["Webhook", "整形", 'It\'s "it"', "a.b[0]", "$x", "\\", "Ωmega 🍣"]),
    texts.filter(lambda text: bool(text.strip())),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts | st.sampled_from(["={{ $('Webhook').item }}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=3)
extras = st.fixed_dictionaries(
    {},
    optional={
        "credentials": st.just({"httpBasicAuth": {"id": "c1", "name": "店"}}),
        "disabled": st.booleans(),
        "notes": texts,
        "notesInFlow": st.booleans(),
        "webhookId": st.uuids().map(str),
        "executeOnce": st.booleans(),
        "alwaysOutputData": st.booleans(),
        "retryOnFail": st.booleans(),
        "maxTries": st.integers(2, 5),
        "waitBetweenTries": st.integers(0, 5000),
        "onError": st.sampled_from(["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]),
    },
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "timezone": st.sampled_from(["Asia/Tokyo", "UTC"]),
        "executionOrder": st.just("v1"),
        "saveManualExecutions": st.booleans(),
        "errorWorkflow": st.just("wf00000000000000"),
        "executionTimeout": st.integers(1, 3600),
    },
)


@st.composite
def nodes_of(draw: st.DrawFn) -> list[Json]:
    own = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    return [
        {
            "id": str(draw(st.uuids())),
            "name": name,
            "type": draw(st.sampled_from(KINDS)),
            "typeVersion": draw(st.sampled_from([1, 2, 3.4])),
            "position": [draw(st.integers(-999, 999)), draw(st.integers(-999, 999))],
            "parameters": draw(objects),
            **draw(extras),
        }
        for name in own
    ]


@st.composite
def connections_of(draw: st.DrawFn, own: list[str]) -> Json:
    target = st.fixed_dictionaries(
        {"node": st.sampled_from(own), "type": st.sampled_from(["main", "ai_tool"]), "index": st.integers(0, 2)}
    )
    slots = st.lists(st.none() | st.lists(target, max_size=2), max_size=3)
    kinds = st.dictionaries(st.sampled_from(["main", "ai_tool", "ai_languageModel"]), slots, max_size=2)
    made: Json = draw(st.dictionaries(st.sampled_from(own), kinds, max_size=3))
    return made


@st.composite
def workflows(draw: st.DrawFn) -> Json:
    """Workflows that both generations of n8n accept."""
    own = draw(nodes_of())
    return {
        "name": draw(names),
        "nodes": own,
        "connections": draw(connections_of([node["name"] for node in own])),
        "settings": draw(settings),
        "staticData": draw(st.none() | st.just({"node:Webhook": {"last": 1}})),
        "pinData": draw(st.none() | st.just({own[0]["name"]: [{"json": {"a": None}}]})),
    }
