"""The only module that imports boto3: it calls Bedrock, parses responses and translates errors."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from threading import Lock
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Final

from chie import __version__
from chie.bedrock_kb.aws_errors import UNEXPECTED, AwsFailure, error_of
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError
from chie.bedrock_kb.requests import DEFAULT_RESULTS, Question, Search, answer_request, search_request
from chie.bedrock_kb.responses import Citation, KBResponse, Passages, parse_answer, parse_passages
from chie.bedrock_kb.truncation import TruncatedStreamError, detect_truncation

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_bedrock_agent_runtime import AgentsforBedrockRuntimeClient as BotoClient

__all__ = ["BedrockClient", "Citation", "KBResponse", "create_boto_client", "query_knowledge_base"]

SERVICE: Final = "bedrock-agent-runtime"
MAX_CONNECTIONS = 128  # 64 answers at once, each with a search for its scores
MAX_ATTEMPTS = 3
CONNECT_TIMEOUT_SECONDS = 5

OnText = Callable[[str], bool]

logger = logging.getLogger(__name__)


class BedrockClient:
    """Calls one knowledge base; safe to share between threads. The first call creates the boto client."""

    def __init__(self, config: KBConfig, boto_client: "BotoClient | None" = None) -> None:
        self._config = config
        self._boto_client = boto_client
        self._lock = Lock()

    def retrieve_and_generate(self, question: Question) -> KBResponse:
        with self._boto() as boto, _translated_errors(self._config, question):
            response = boto.retrieve_and_generate(**answer_request(self._config, question))
        return parse_answer(response)

    def retrieve_and_generate_stream(self, question: Question, on_text: OnText) -> KBResponse:
        """Pass the answer to `on_text` piece by piece; the stream is closed as soon as that returns False."""
        config = self._config
        with self._boto() as boto:
            with _translated_errors(config, question):
                response = boto.retrieve_and_generate_stream(**answer_request(config, question))
            with _translated_errors(config, question, response), closing(response["stream"]) as stream:
                collected = _collect(stream, on_text)
        return parse_answer({"sessionId": response.get("sessionId"), **collected})

    def retrieve(self, search: Search, *, managed: bool = False) -> Passages:
        with self._boto() as boto, _translated_errors(self._config, search):
            response = boto.retrieve(**search_request(self._config, search, managed=managed))
        return parse_passages(response)

    def close(self) -> None:
        with self._lock:
            boto, self._boto_client = self._boto_client, None
        if boto is not None:
            boto.close()

    @contextmanager
    def _boto(self) -> "Iterator[BotoClient]":
        """Rejected credentials are looked up again by the next call, so that no restart is needed after signing in."""
        with self._lock:
            boto = self._boto_client = self._boto_client or create_boto_client(self._config)
        try:
            yield boto
        except AuthenticationError:
            self._discard(boto)
            raise

    def _discard(self, boto: "BotoClient") -> None:
        with self._lock:
            if self._boto_client is boto:
                self._boto_client = None


def query_knowledge_base(
    client: Any,  # noqa: ANN401
    config: KBConfig,
    query: str,
    max_results: int = DEFAULT_RESULTS,
) -> KBResponse:
    """Ask one question with a boto client and wait for the complete answer."""
    question = Question(query=query, max_results=max_results)
    return BedrockClient(config, client).retrieve_and_generate(question)


def create_boto_client(config: KBConfig) -> "BotoClient":
    """A boto client, which is thread-safe. Credentials are looked up; nothing is sent yet."""
    from botocore.config import Config

    _limit_sdk_logging()
    settings = Config(
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        read_timeout=config.timeout,
        retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
        max_pool_connections=MAX_CONNECTIONS,
        tcp_keepalive=True,
        user_agent_extra=f"chie/{__version__}",
    )
    with _translated_errors(config):
        client = _session(config).client(SERVICE, config=settings)
    # The stubs do not declare that the return value of this handler is used.
    client.meta.events.register_first(f"needs-retry.{SERVICE}", _stop_retry_after_timeout)  # type: ignore[arg-type]
    client.meta.events.register(f"before-parse.{SERVICE}.RetrieveAndGenerateStream", detect_truncation)
    return client


def _session(config: KBConfig) -> "Session":
    """A session of our own: the default session is shared, and sessions are not thread-safe.

    The profile comes from the configuration. Passed explicitly it takes precedence over keys in the environment; the
    SDK's own lookup of AWS_PROFILE is turned off because it takes a blank value for a profile without a name.
    """
    import boto3
    from botocore.session import Session as Core

    core = Core(session_vars={"profile": (None, ["AWS_DEFAULT_PROFILE"], None, None)})
    return boto3.session.Session(botocore_session=core, profile_name=config.profile, region_name=config.aws_region)


def _collect(events: Any, on_text: OnText) -> dict[str, Any]:  # noqa: ANN401
    """The events of a stream in the shape of a `RetrieveAndGenerate` response."""
    text: list[str] = []
    citations: list[Mapping[str, Any]] = []
    response: dict[str, Any] = {"citations": citations}
    for event in events:
        if "output" in event:
            text.append(event["output"]["text"])
            if not on_text(text[-1]):
                break
        elif "citation" in event:
            # The API has two forms of this event, nested and flat.
            citations.append(event["citation"].get("citation") or event["citation"])
        elif "guardrail" in event:
            response["guardrailAction"] = event["guardrail"].get("action")
    if not text and "guardrailAction" not in response:
        raise TruncatedStreamError("the stream ended before the answer began")
    return {**response, "output": {"text": "".join(text)}}


def _stop_retry_after_timeout(caught_exception: Exception | None = None, **_: object) -> bool | None:
    """False stops the retries: a model that timed out is likely to time out again, and every attempt is billed."""
    from botocore.exceptions import ReadTimeoutError

    return False if isinstance(caught_exception, ReadTimeoutError) else None


def _limit_sdk_logging() -> None:
    """At DEBUG the SDK logs questions and signed headers."""
    for name in ("boto3", "botocore", "urllib3"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))


@contextmanager
def _translated_errors(
    config: KBConfig, search: Search | None = None, response: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Raise every exception of a call as one of this module's errors, without the texts of `search`."""
    from botocore.exceptions import ClientError

    hidden = search.texts() if search else ()
    try:
        yield
    except ClientError as error:
        raise error_of(_client_error(error, response or {}), config, hidden=hidden) from error
    except Exception as error:
        failure = AwsFailure(_class_names(error), _sentence(error), _request_id(response or {}))
        ours = error_of(failure, config, hidden=hidden)
        if ours.code == UNEXPECTED.code:
            _log_stack(ours, error)
        raise ours from error


def _client_error(error: Any, response: Mapping[str, Any]) -> AwsFailure:  # noqa: ANN401
    """Inside a stream AWS's codes begin with a lowercase letter; they are capitalized here."""
    content = error.response.get("Error", {})
    code = content.get("Code") or "Unknown"
    return AwsFailure(
        names=(code[:1].upper() + code[1:], "ClientError"),
        sentence=content.get("Message") or "",
        request_id=_request_id(error.response) or _request_id(response),
        retry_after=_retry_after(error.response),
    )


def _class_names(error: Exception) -> tuple[str, ...]:
    return tuple(kind.__name__ for kind in type(error).__mro__)


def _sentence(error: Exception) -> str:
    """Empty if the exception cannot be formatted; its name is enough then."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the `__str__` of any library
        return ""


def _log_stack(ours: KBError, error: Exception) -> None:
    """Only the frames, innermost first: the exception's own text may contain the question."""
    frames = reversed(extract_tb(error.__traceback__))
    logger.error("%s %s", ours.message, " < ".join(f"{frame.filename}:{frame.lineno}" for frame in frames))


def _request_id(response: Mapping[str, Any]) -> str | None:
    return response.get("ResponseMetadata", {}).get("RequestId") or None


def _retry_after(response: Mapping[str, Any]) -> int | None:
    value = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
    return int(value) if value.isdecimal() else None
