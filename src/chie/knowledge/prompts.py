"""MCP prompts, which a person picks from the client's menu."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fastmcp.prompts.base import Prompt, PromptArgument
from pydantic import PrivateAttr

from chie.errors import ValidationError
from chie.mcp_kit.server import Server

SAVE_PROMPT = "save_what_we_learnt"
QUERY_PROMPT = "what_do_we_know"
MAX_ARGUMENT_LENGTH = 2_000

_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_SAVE_EN = """\
Look back over this conversation{about} and save what we learnt for the team.

Worth keeping is what was hard to find out and will help a colleague: a cause and its fix, a decision and its reason, \
a command that works, a pitfall. Leave out what any manual says, what matters only today, and every secret.

For each finding:
1. Call search_knowledge with it. If a note says nearly the same, complete that one with update_knowledge.
2. Otherwise call save_knowledge: one finding per note, understandable without this conversation, in the words that \
a colleague would search for, in the language of this conversation{tagged}. Give the file, URL or issue as source.

Then list what you saved, each with its title and id. If nothing is worth keeping, say so and save nothing."""

_SAVE_JA = """\
この会話を振り返り{about}、学んだことをチームのために保存してください。

残す価値があるのは、調べるのに苦労し、同僚の役に立つことです。原因と解決策、決定とその理由、動いたコマンド、落とし穴など。\
マニュアルを見れば分かること、今日だけのこと、秘密の値は残さないでください。

一つひとつについて：
1. まず search_knowledge で検索します。ほぼ同じメモがあれば update_knowledge で補います。
2. なければ save_knowledge で保存します。一つのメモに一つのこと。この会話を知らない人にも分かるように、\
探す人が使う言葉で、この会話の言語で書きます{tagged}。ファイル、URL、課題番号などは source に入れます。

最後に、保存したメモのタイトルと id を並べてください。残すものがなければ、そう伝えて何も保存しないでください。"""

_KNOW_EN = """\
What does our team know about this: {topic}

Search the team's notes with search_knowledge{tagged}, in my words and again in other words and in Japanese, \
because colleagues write in both languages. Where a hit is partial, read it whole with get_knowledge.

Answer from the notes alone, in the language I use, and give the id of the note after each statement. Say where notes \
contradict each other or look out of date, and what they do not answer. If there is no note on it, say just that."""

_KNOW_JA = """\
チームは次のことについて何を知っていますか：{topic}

search_knowledge でチームのメモを検索してください{tagged}。この言葉のまま、別の言い方で、そして英語でも検索します。\
同僚は両方の言語で書いているからです。一部だけ（partial）の結果は get_knowledge で全文を読みます。

メモに書かれていることだけをもとに、私の使う言語で答え、それぞれの文の後にメモの id を付けてください。\
メモ同士の食い違いや古そうな内容、メモでは分からないことも伝えてください。該当するメモがなければ、そうとだけ答えてください。"""

TOPIC = "What it is about, in a few words. / 何についてか、短い言葉で。"
TAG = "Only notes with this tag. / このタグの付いたメモだけ。"
TAGS = "Tags for the new notes, separated by commas. / 新しいメモに付けるタグ（コンマ区切り）。"


class TemplatePrompt(Prompt):
    """A prompt whose text is rendered from its arguments."""

    _template: Callable[[Mapping[str, str]], str] = PrivateAttr()

    @classmethod
    def of(cls, template: Callable[[Mapping[str, str]], str], **fields: Any) -> "TemplatePrompt":  # noqa: ANN401
        prompt = cls(**fields)
        prompt._template = template
        return prompt

    async def render(self, arguments: dict[str, Any] | None = None) -> str:
        given = {name: str(value).strip() for name, value in (arguments or {}).items()}
        for argument in self.arguments or ():
            if argument.required and not given.get(argument.name):
                raise ValidationError(
                    "knowledge.prompt_argument_required",
                    name=argument.name,
                    description=(argument.description or "").lower(),
                )
        if any(len(value) > MAX_ARGUMENT_LENGTH for value in given.values()):
            raise ValidationError("knowledge.prompt_argument_too_long", limit=MAX_ARGUMENT_LENGTH)
        return self._template(given)


def declare_prompts(server: Server) -> None:
    server.add_prompt(
        TemplatePrompt.of(
            save_prompt,
            name=SAVE_PROMPT,
            title="Save what we learnt / 学んだことを保存",
            description="Saves the findings of this conversation as notes. / この会話で分かったことをメモに残します。",
            arguments=[PromptArgument(name="topic", description=TOPIC), PromptArgument(name="tags", description=TAGS)],
        )
    )
    server.add_prompt(
        TemplatePrompt.of(
            query_prompt,
            name=QUERY_PROMPT,
            title="What do we know about this? / これについて何を知っている？",
            description="Answers from the team's notes, with their ids. / チームのメモから、出典つきで答えます。",
            arguments=[
                PromptArgument(name="topic", description=TOPIC, required=True),
                PromptArgument(name="tag", description=TAG),
            ],
        )
    )


def save_prompt(given: Mapping[str, str]) -> str:
    topic, tags = given.get("topic"), ", ".join(f'"{tag}"' for tag in split_tags(given.get("tags", "")))
    if _JAPANESE.search(f"{topic}{tags}"):
        about, tagged = f"（特に：{topic}）" if topic else "", f"。tags には {tags} を付けます" if tags else ""
        return _SAVE_JA.format(about=about, tagged=tagged)
    about, tagged = f", at what concerns {topic}," if topic else "", f", with the tags {tags}" if tags else ""
    return _SAVE_EN.format(about=about, tagged=tagged)


def query_prompt(given: Mapping[str, str]) -> str:
    topic, tag = given["topic"], given.get("tag")
    if _JAPANESE.search(topic):
        return _KNOW_JA.format(topic=topic, tagged=f'（tags は ["{tag}"]）' if tag else "")
    return _KNOW_EN.format(topic=topic, tagged=f' and tags ["{tag}"]' if tag else "")


def split_tags(text: str) -> list[str]:
    """Split at ASCII and Japanese commas; tags may contain spaces."""
    return [tag for part in re.split("[,、，]", text) if (tag := part.strip().lstrip("#"))]
