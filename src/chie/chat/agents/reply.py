"""One message of a model, collected from its chunks."""

from chie.chat.agents.text_joiner import TextJoiner
from chie.chat.events import ReasoningText, Text
from chie.chat.models.chunks import Call, Chunk, End, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.errors import ModelError
from chie.chat.models.messages import AssistantMessage


class Reply:
    def __init__(self, joiner: TextJoiner) -> None:
        self.calls: list[Call] = []
        self.end = End(None)
        self._joiner = joiner
        self._text: list[str] = []
        self._reasoning: list[Reasoning] = []
        self._has_thought = False
        joiner.start_message()

    def add(self, chunk: Chunk) -> Text | ReasoningText | None:
        """The text to show, if the chunk has any."""
        if isinstance(chunk, TextDelta):  # first and apart from the others, because nearly every chunk is one
            self._text.append(chunk.text)
            shown = self._joiner.add(chunk.text)
            return Text(type="message", content=shown) if shown else None
        match chunk:
            case ReasoningDelta(text):
                return self._thought(text)
            case Reasoning():
                self._reasoning.append(chunk)
            case Call():
                self.calls.append(chunk)
            case End():
                self.end = chunk
        return None

    def _thought(self, text: str) -> ReasoningText | None:
        """Models that were told not to think send white space."""
        text = text if self._has_thought else text.lstrip()
        self._has_thought = self._has_thought or bool(text)
        return ReasoningText(type="reasoning", content=text) if text else None

    @property
    def is_empty(self) -> bool:
        return not (self._text or self.calls or self._has_thought)

    def missing_text(self, model: str) -> ModelError:
        """The error of an answer without text: the provider stopped it, or the model used its tokens to think."""
        if self.end.filtered:
            return ModelError("models.answer_filtered", model=model)
        if not self._has_thought:
            return ModelError("models.answer_empty", model=model)
        cut = "models.reasoning_truncated" if self.end.truncated else "models.reasoning_only"
        return ModelError(cut, model=model)

    def message(self) -> AssistantMessage:
        return AssistantMessage("".join(self._text), tuple(self.calls), tuple(self._reasoning))
