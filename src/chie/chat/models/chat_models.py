"""Which of the models that a server lists can chat. Lists of OpenAI-compatible servers do not say."""

import re
from collections.abc import Iterable

# Embeddings, rerankers, speech, pictures, moderation, and models that only complete a text.
_OTHER = re.compile(
    r"embed|rerank|whisper|tts|speech|transcribe|realtime|audio|parakeet|kokoro|dall-e|image|sora|flux|moderation"
    r"|(?:^|[/_-])(?:bge|e5|gte|minilm|all-mpnet)(?:[_-]|$)"
    r"|(?:^|/)(?:text-)?(?:davinci|babbage|curie|ada)(?:-|$)|gpt-3\.5-turbo-instruct"
)
# Families of chat models. Where a long list has them, its order says nothing: they come first.
_FAMILIES = re.compile(r"(?:^|/)(?:gpt-\d|chatgpt|o\d(?:-|$)|claude|gemini)")


def chat_models(names: Iterable[str]) -> list[str]:
    """The chat models, otherwise in the server's order, in which a local server lists the loaded model first."""
    found = [name for name in names if not _OTHER.search(name.lower())]
    return sorted(found, key=lambda name: _FAMILIES.search(name.lower()) is None)
