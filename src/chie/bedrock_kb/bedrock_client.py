"""The only file that touches boto3: it connects, calls and reads, and turns what fails into our errors."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from chie import __version__
from chie.bedrock_kb.aws_errors import Fault, error_of
from chie.bedrock_kb.citations import Citation, Found, KBResponse, parse_answer, parse_passages
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.requests import DEFAULT_RESULTS, Question, Search, answer_request, search_request
from chie.bedrock_kb.truncation import BrokenStreamError, watch

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_bedrock_agent_runtime import AgentsforBedrockRuntimeClient as Client

__all__ = ["Citation", "KBResponse", "ask", "ask_aloud", "connect", "find", "query_knowledge_base"]

SERVICE: Final = "bedrock-agent-runtime"
CONNECTIONS = 64
ATTEMPTS = 3
CONNECT_SECONDS = 5

Hear = Callable[[str], bool]


def connect(config: KBConfig) -> "Client":
    """A client, safe to share between threads. Nothing is sent yet, but credentials are looked up."""
    from botocore.config import Config

    _keep_requests_out_of_the_log()
    settings = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=config.timeout,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
        user_agent_extra=f"chie/{__version__}",
    )
    with _our_errors(config):
        client = _session(config).client(SERVICE, config=settings)
    # The stubs do not know that what a handler of this event returns is listened to.
    client.meta.events.register_first(f"needs-retry.{SERVICE}", _never_pay_twice)  # type: ignore[arg-type]
    client.meta.events.register(f"before-parse.{SERVICE}.RetrieveAndGenerateStream", watch)
    return client


def _session(config: KBConfig) -> "Session":
    """A session of our own: the default one is shared, and no session is safe in threads.

    AWS_PROFILE is in the configuration already. Passed on from there it wins over keys in the environment, and one
    that is blank, as an unfilled form leaves it, is no profile; the SDK by itself would look for one without a name.
    """
    import boto3
    from botocore.session import Session as Core

    core = Core(session_vars={"profile": (None, ["AWS_DEFAULT_PROFILE"], None, None)})
    return boto3.session.Session(botocore_session=core, profile_name=config.profile, region_name=config.aws_region)


def query_knowledge_base(
    client: Any,  # noqa: ANN401
    config: KBConfig,
    query: str,
    max_results: int = DEFAULT_RESULTS,
) -> KBResponse:
    """Ask one question and wait for the whole answer."""
    return ask(client, config, Question(query=query, max_results=max_results))


def ask(client: "Client", config: KBConfig, question: Question) -> KBResponse:
    with _our_errors(config, question):
        return parse_answer(client.retrieve_and_generate(**answer_request(config, question)))


def ask_aloud(client: "Client", config: KBConfig, question: Question, hear: Hear) -> KBResponse:
    """Ask, and `hear` the answer as it is written; where that says False, nobody listens and the stream is closed."""
    with _our_errors(config, question):
        response = client.retrieve_and_generate_stream(**answer_request(config, question))
    with _our_errors(config, question, response), closing(response["stream"]) as stream:
        return parse_answer({"sessionId": response.get("sessionId"), **_collected(stream, hear)})


def find(client: "Client", config: KBConfig, search: Search, *, managed: bool = False) -> Found:
    with _our_errors(config, search):
        return parse_passages(client.retrieve(**search_request(config, search, managed=managed)))


def _collected(events: Any, hear: Hear) -> dict[str, Any]:  # noqa: ANN401
    """The events of a stream as the response that the plain call would have given."""
    text: list[str] = []
    citations: list[Mapping[str, Any]] = []
    whole: dict[str, Any] = {"citations": citations}
    for event in events:
        if "output" in event:
            text.append(event["output"]["text"])
            if not hear(text[-1]):
                break
        elif "citation" in event:
            # The API has two forms of this event, a nested one and a flat one.
            citations.append(event["citation"].get("citation") or event["citation"])
        elif "guardrail" in event:
            whole["guardrailAction"] = event["guardrail"].get("action")
    if not text and "guardrailAction" not in whole:
        raise BrokenStreamError("the stream ended before the answer began")
    return {**whole, "output": {"text": "".join(text)}}


def _never_pay_twice(caught_exception: Exception | None = None, **_: object) -> bool | None:
    """A model that is too slow once is too slow again, and each attempt is paid for: False stops the retries."""
    from botocore.exceptions import ReadTimeoutError

    return False if isinstance(caught_exception, ReadTimeoutError) else None


def _keep_requests_out_of_the_log() -> None:
    """At DEBUG the SDK logs questions, and the headers it signs with."""
    for name in ("boto3", "botocore", "urllib3"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))


@contextmanager
def _our_errors(
    config: KBConfig, search: Search | None = None, response: Mapping[str, Any] | None = None
) -> Iterator[None]:
    from botocore.eventstream import ParserError
    from botocore.exceptions import BotoCoreError, ClientError
    from urllib3.exceptions import HTTPError

    hidden = search.words() if search else ()
    try:
        yield
    except ClientError as error:
        raise error_of(_refusal(error, response or {}), config, hidden=hidden) from error
    except (BotoCoreError, HTTPError, ParserError, BrokenStreamError) as error:
        fault = Fault(_names(error), str(error), _request_id(response or {}))
        raise error_of(fault, config, hidden=hidden) from error


def _refusal(error: Any, response: Mapping[str, Any]) -> Fault:  # noqa: ANN401
    """What AWS answered. Inside a stream its codes begin with a small letter."""
    said = error.response.get("Error", {})
    code = said.get("Code") or "Unknown"
    return Fault(
        names=(code[:1].upper() + code[1:],),
        words=said.get("Message") or "",
        request_id=_request_id(error.response) or _request_id(response),
        retry_after=_retry_after(error.response),
    )


def _names(error: Exception) -> tuple[str, ...]:
    return tuple(kind.__name__ for kind in type(error).__mro__)


def _request_id(response: Mapping[str, Any]) -> str | None:
    return response.get("ResponseMetadata", {}).get("RequestId") or None


def _retry_after(response: Mapping[str, Any]) -> int | None:
    value = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
    return int(value) if value.isdecimal() else None
