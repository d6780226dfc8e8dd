"""The table from AWS error names to Chie's errors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, NotFoundError, ServiceError
from chie.installation.commands import install_package
from chie.logging import redact
from chie.messages.catalogue import Message, Param

MAX_SENTENCE_LENGTH = 300
MIN_SUBSTRING_LENGTH = 4
DEFAULT_RETRY_SECONDS = 30


@dataclass(frozen=True)
class AwsFailure:
    """A failed call. `names` begins with AWS's code or the exception's name; base classes follow."""

    names: tuple[str, ...]
    sentence: str = ""
    request_id: str | None = None
    retry_after: int | None = None


@dataclass(frozen=True)
class Rule:
    """The error raised for an AWS error name, and the parameters its text takes beside `aws_error`.

    AWS's sentence is quoted only where it cannot contain a signature or a token.
    """

    kind: type[KBError]
    code: str
    params: tuple[str, ...] = ()
    retryable: bool = False
    quoted: bool = True


def _credentials(code: str, *params: str) -> Rule:
    return Rule(AuthenticationError, code, params, quoted=False)


def _outage(code: str, *params: str) -> Rule:
    return Rule(ServiceError, code, params, retryable=True)


_SESSION_ENDED = _credentials("bedrock_kb.session_ended", "sign_in")
_EXPIRED = _credentials("bedrock_kb.credentials_expired", "sign_in")
_UNKNOWN_KEY = _credentials("bedrock_kb.credentials_unknown", "sign_in")
_BAD_SIGNATURE = _credentials("bedrock_kb.signature_invalid", "sign_in")
_DEPENDENCY_FAILED = _outage("bedrock_kb.dependency_failed", "seconds")
_CONNECTION_FAILED = _outage("bedrock_kb.connection_failed", "region")
_INCOMPLETE = _outage("bedrock_kb.response_incomplete", "seconds")

OTHER = Rule(ServiceError, "bedrock_kb.call_failed")
UNEXPECTED = Rule(ServiceError, "bedrock_kb.call_unexpected")

RULES = {
    "NoCredentialsError": _credentials("bedrock_kb.credentials_missing", "sign_in"),
    "NoAuthTokenError": _SESSION_ENDED,
    "PartialCredentialsError": _credentials("bedrock_kb.credentials_incomplete"),
    "CredentialRetrievalError": _credentials("bedrock_kb.credentials_unavailable", "sign_in"),
    "ProfileNotFound": _credentials("bedrock_kb.profile_not_found"),
    "SSOError": _SESSION_ENDED,
    "TokenRetrievalError": _SESSION_ENDED,
    "LoginError": _credentials("bedrock_kb.login_ended", "login_command"),
    "MissingDependencyException": _credentials("bedrock_kb.sdk_extra_missing", "command"),
    "ExpiredTokenException": _EXPIRED,
    "ExpiredToken": _EXPIRED,
    "UnrecognizedClientException": _UNKNOWN_KEY,
    "InvalidClientTokenId": _UNKNOWN_KEY,
    "MissingAuthenticationTokenException": _UNKNOWN_KEY,
    "InvalidSignatureException": _BAD_SIGNATURE,
    "IncompleteSignatureException": _BAD_SIGNATURE,
    "AccessDeniedException": Rule(AuthenticationError, "bedrock_kb.permission_denied"),
    "ResourceNotFoundException": Rule(NotFoundError, "bedrock_kb.knowledge_base_not_found", ("region",)),
    "ThrottlingException": _outage("bedrock_kb.throttled", "seconds"),
    "ServiceQuotaExceededException": Rule(ServiceError, "bedrock_kb.quota_exceeded"),
    "ValidationException": Rule(ServiceError, "bedrock_kb.request_rejected"),
    "ParamValidationError": Rule(ServiceError, "bedrock_kb.request_invalid", quoted=False),
    "DependencyFailedException": _DEPENDENCY_FAILED,
    "BadGatewayException": _DEPENDENCY_FAILED,
    "InternalServerException": _outage("bedrock_kb.internal_error", "seconds"),
    "ServiceUnavailableException": _outage("bedrock_kb.unavailable", "seconds"),
    "ConflictException": _outage("bedrock_kb.busy", "seconds"),
    "ReadTimeoutError": _outage("bedrock_kb.read_timeout", "timeout"),
    "ConnectTimeoutError": _outage("bedrock_kb.connect_timeout", "region"),
    "EndpointConnectionError": _outage("bedrock_kb.unreachable", "region"),
    "ProxyConnectionError": _outage("bedrock_kb.proxy_unreachable", "region"),
    "SSLError": Rule(ServiceError, "bedrock_kb.certificate_untrusted"),
    "ConnectionError": _CONNECTION_FAILED,
    "TimeoutError": _CONNECTION_FAILED,
    "HTTPClientError": _CONNECTION_FAILED,
    "HTTPError": _INCOMPLETE,
    "ParserError": _INCOMPLETE,
    "TruncatedStreamError": _INCOMPLETE,
    "ClientError": OTHER,
    "BotoCoreError": OTHER,
}

# These AWS codes cover many reasons; only AWS's sentence distinguishes them.
_MODEL_ACCESS = ("access to the model", "bedrock_kb.model_access_missing", ())
REASONS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "AccessDeniedException": (_MODEL_ACCESS,),
    "ValidationException": (
        _MODEL_ACCESS,
        ("on-demand throughput", "bedrock_kb.inference_profile_required", ()),
        ("model identifier", "bedrock_kb.model_unknown", ("region",)),
        ("managed knowledge base", "bedrock_kb.managed_knowledge_base", ()),
        ("rerank", "bedrock_kb.rerank_model_rejected", ("region",)),
        ("hybrid", "bedrock_kb.hybrid_search_unsupported", ()),
        ("session", "bedrock_kb.session_rejected", ()),
        ("guardrail", "bedrock_kb.guardrail_rejected", ()),
    ),
}

_QUOTED_VALUE = re.compile(r"\b([Vv]alue) '.*?' at '", re.DOTALL)
_ACCESS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}")


def error_of(failure: AwsFailure, config: KBConfig, *, hidden: Iterable[str] = ()) -> KBError:
    """The error to raise. Its text contains nothing of `hidden`, the arguments of the call."""
    aws_code = failure.names[0]
    rule = next((RULES[name] for name in failure.names if name in RULES), UNEXPECTED)
    sentence = _safe(failure.sentence, hidden) if rule.quoted else ""
    rule = _refined(rule, aws_code, sentence)
    values = _values(failure, config)
    message = Message(rule.code, aws_error=_quoted(aws_code, sentence), **{name: values[name] for name in rule.params})
    return rule.kind(message, aws_code=aws_code, retryable=rule.retryable, request_id=failure.request_id)


def _refined(rule: Rule, aws_code: str, sentence: str) -> Rule:
    for phrase, code, params in REASONS.get(aws_code, ()):
        if phrase in sentence.lower():
            return replace(rule, code=code, params=params)
    return rule


def _values(failure: AwsFailure, config: KBConfig) -> dict[str, Param]:
    return {
        "sign_in": _how_to_sign_in(config),
        "login_command": f"aws login --profile {config.profile}" if config.profile else "aws login",
        "command": install_package("botocore[crt]"),
        "region": config.aws_region,
        "timeout": f"{config.timeout:g}",
        "seconds": failure.retry_after or DEFAULT_RETRY_SECONDS,
    }


def _how_to_sign_in(config: KBConfig) -> Message:
    if config.profile:
        return Message("bedrock_kb.sign_in_to_profile", profile=config.profile)
    return Message("bedrock_kb.provide_credentials")


def _quoted(aws_code: str, sentence: str) -> str:
    if len(sentence) > MAX_SENTENCE_LENGTH:
        sentence = f"{sentence[:MAX_SENTENCE_LENGTH]}…"
    return f"{aws_code}: {sentence}" if sentence else aws_code


def _safe(sentence: str, hidden: Iterable[str]) -> str:
    for value in sorted(filter(None, hidden), key=len, reverse=True):
        sentence = _without(sentence, value)
    sentence = _without_quoted_values(sentence)
    return _ACCESS_KEY.sub("***", redact(" ".join(sentence.split())))


def _without_quoted_values(sentence: str) -> str:
    """Search only up to the last closing quote: an unclosed one would cost quadratic time."""
    head, mark, rest = sentence.rpartition("' at '")
    return _QUOTED_VALUE.sub(r"\1 at '", head + mark) + rest


def _without(sentence: str, value: str) -> str:
    """A short value is removed only as a whole word, so that a one-letter query does not shred the sentence."""
    if len(value) >= MIN_SUBSTRING_LENGTH:
        return sentence.replace(value, "…")
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", sentence)
