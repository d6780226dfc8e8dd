"""Which of the models that a server lists can chat. Most lists of OpenAI-compatible servers do not say."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

# Embeddings, rerankers, speech, pictures, films, moderation, and models that only complete a text.
MAX_NAME = 300  # characters; longer ones are no names
_OTHER = re.compile(
    r"embed|rerank|paraphrase-|sentence-|voyage-|simcse|colbert|splade"
    r"|(?:^|[/_-])(?:bge|e5|gte|minilm|all-mpnet|ruri)(?:[_:-]|$)"
    r"|whisper|tts|speech|transcribe|realtime|audio|parakeet|kokoro|orpheus|playai|canary-\d|nova-sonic|gemini\S*-live"
    r"|dall-e|image|sora|flux|stable-diffusion|stability\.|(?:^|[/_-])sd(?:xl|3)|nova-(?:canvas|reel)|(?:^|/)veo-|t2v|i2v"
    r"|moderation|shieldgemma|mistral-ocr|(?:^|/)aqa$"
    r"|(?:^|[/:])(?:(?:text|code)-(?:[a-z]+-)?)?(?:davinci|babbage|curie|ada)(?:[-:]|$)|gpt-3\.5-turbo-instruct"
)
# OpenAI offers these through its Responses API alone; gateways offer them for chats, too.
_RESPONSES_ONLY = re.compile(r"^(?:o\d|gpt-\d[.\d]*)-pro|-codex|^codex-|deep-research|^computer-use")
# Families of chat models. Where a long list has them, its order says nothing: they come first.
_FAMILIES = re.compile(r"(?:^|/)(?:gpt-\d|chatgpt|o\d(?:-|$)|claude|gemini)")
# Of these, generations that are dear and forgetful, dated copies, and models for one purpose come later.
_LATER = re.compile(
    r"(?:^|/)(?:gpt-(?:3\.5|4(?:-|$))|claude-(?:[12](?:[.-]|$)|instant|3-[a-z])|(?:models/)?gemini-1)"
    r"|(?:^|/)(?:gpt|o\d)\S*-(?:\d{4}|\d{4}-\d{2}-\d{2})$|-search"
)
_CHAT_TYPES = ("chat", "llm", "vlm")
_OTHER_TYPES = ("language", "image", "video", "audio", "embedding", "embeddings", "moderation", "rerank", "transcribe")
_OUTPUTS = ("output_modalities", "supported_output_modalities")
_CHAT_CAPABILITIES = ("completion_chat", "chat_completion")


def chat_models(names: Iterable[str], *, openai: bool = False) -> list[str]:
    """The chat models, otherwise in the server's order, in which a local server lists the loaded model first. `openai`
    is for the list of OpenAI itself."""
    found = [name for name in names if len(name) <= MAX_NAME and not _OTHER.search(name.lower())]
    if openai:
        found = [name for name in found if not _RESPONSES_ONLY.search(name.lower())]
    return sorted(found, key=_rank)


def listed_model_chats(entry: Mapping[str, Any]) -> bool | None:
    """From an entry of `GET /models`, as Together, Mistral, Azure, OpenRouter, GitHub and LM Studio write it; None if
    it says nothing."""
    if entry.get("type") in (*_CHAT_TYPES, *_OTHER_TYPES):
        return entry["type"] in _CHAT_TYPES
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, Mapping):
        for said in (capabilities.get(name) for name in _CHAT_CAPABILITIES):
            if isinstance(said, bool):
                return said
    for part in (entry, entry.get("architecture")):
        outputs = [part.get(name) for name in _OUTPUTS] if isinstance(part, Mapping) else []
        if found := [output for output in outputs if isinstance(output, list) and output]:
            return "text" in found[0]
    return None


def _rank(name: str) -> int:
    lower = name.lower()
    if not _FAMILIES.search(lower):
        return 2
    return 1 if _LATER.search(lower) else 0
