"""What the house says by itself, in the language it was asked in."""

import re
from dataclasses import dataclass

_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Words:
    found: str
    nothing: str
    part: str


ENGLISH = Words(
    found="No language model is connected, so this is no answer of mine: these are the team's notes that fit your "
    "question best, word for word.",
    nothing="No language model is connected, and none of the team's notes fits your question. Connect a model "
    "(start LM Studio's server, or set OPENAI_BASE_URL), or save a note about it.",
    part="part of a longer note",
)
JAPANESE = Words(
    found="言語モデルが接続されていないため、回答の生成はしていません。質問にもっとも近いチームのメモを原文のまま引用します。",
    nothing="言語モデルが接続されておらず、質問に合うチームのメモも見つかりませんでした。モデルを接続する"
    "（LM Studio のサーバーを起動する、または OPENAI_BASE_URL を設定する）か、メモを保存してください。",
    part="長いメモの一部",
)


def words_for(question: str) -> Words:
    return JAPANESE if _JAPANESE.search(question) else ENGLISH
