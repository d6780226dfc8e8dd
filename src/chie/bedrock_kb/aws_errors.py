"""What went wrong between us and Bedrock, and whose turn it is: one table from AWS's names to our errors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import AuthenticationError, KBError, NotFoundError, ServiceError
from chie.logging import redact

LONGEST_QUOTE = 300
SHORT = 4
WAIT_SECONDS = 30

LOGIN = "{login}"
AGAIN = "Try again in {seconds} seconds."
PERMISSION = (
    "The role needs bedrock:RetrieveAndGenerate, bedrock:Retrieve and bedrock:InvokeModel; "
    "docs/bedrock-kb.md has the policy."
)
NETWORK = "Look at this machine's network, proxy and AWS_REGION ({region}), then try again."


@dataclass(frozen=True)
class Fault:
    """A failed call. `names` begins with AWS's code or the exception's name; more general names follow."""

    names: tuple[str, ...]
    words: str = ""
    request_id: str | None = None
    retry_after: int | None = None


@dataclass(frozen=True)
class Verdict:
    """How a fault is told. AWS's own words are quoted only where they cannot hold a signature or a token."""

    kind: type[KBError]
    says: str
    advice: str
    retryable: bool = False
    quoted: bool = True


def _login(says: str, advice: str = LOGIN) -> Verdict:
    return Verdict(AuthenticationError, says, advice, quoted=False)


def _outage(says: str, advice: str = AGAIN) -> Verdict:
    return Verdict(ServiceError, says, advice, retryable=True)


_EXPIRED = _login("the AWS credentials have expired")
_UNKNOWN_KEY = _login("AWS does not know these credentials")
_BAD_SIGNATURE = _login(
    "AWS refused the credentials: the signature is wrong",
    "Check the secret access key and this machine's clock. " + LOGIN,
)
_SIGNED_OUT = _login("the AWS session is not signed in, or has ended")
_UNREADABLE = _outage("the answer broke off or arrived damaged")

VERDICTS = {
    "NoCredentialsError": _login("no AWS credentials were found"),
    "NoAuthTokenError": _SIGNED_OUT,
    "PartialCredentialsError": _login(
        "the AWS credentials are incomplete",
        "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set AWS_PROFILE, and restart the server.",
    ),
    "CredentialRetrievalError": _login("the AWS credentials could not be fetched"),
    "ProfileNotFound": _login(
        "AWS_PROFILE names a profile that this machine does not have",
        "Set it to one that `aws configure list-profiles` shows, and restart the server.",
    ),
    "SSOError": _SIGNED_OUT,
    "TokenRetrievalError": _SIGNED_OUT,
    "LoginError": _login("the AWS login session has ended", "Run `aws login{profile}`, then call again."),
    "MissingDependencyException": _login(
        "the AWS profile needs a part of the SDK that is not installed",
        "Install it with `pip install 'botocore[crt]'`, and restart the server.",
    ),
    "ExpiredTokenException": _EXPIRED,
    "ExpiredToken": _EXPIRED,
    "UnrecognizedClientException": _UNKNOWN_KEY,
    "InvalidClientTokenId": _UNKNOWN_KEY,
    "MissingAuthenticationTokenException": _UNKNOWN_KEY,
    "InvalidSignatureException": _BAD_SIGNATURE,
    "IncompleteSignatureException": _BAD_SIGNATURE,
    "AccessDeniedException": Verdict(AuthenticationError, "these AWS credentials may not do this", PERMISSION),
    "ResourceNotFoundException": Verdict(
        NotFoundError,
        "the knowledge base or its model was not found in {region}",
        "Set BEDROCK_KB_ID to an id that the Bedrock console shows for that region, or correct AWS_REGION.",
    ),
    "ThrottlingException": _outage("Bedrock has too many requests of this account"),
    "ServiceQuotaExceededException": Verdict(
        ServiceError, "a quota of this AWS account is used up", "Ask for more under Service Quotas in the AWS console."
    ),
    "ValidationException": Verdict(
        ServiceError,
        "Bedrock refused the request",
        "Check BEDROCK_KB_ID, BEDROCK_MODEL_ARN and the filter; docs/bedrock-kb.md lists the usual reasons.",
    ),
    "ParamValidationError": Verdict(
        ServiceError,
        "the AWS SDK refused the request",
        "Check BEDROCK_KB_ID, BEDROCK_MODEL_ARN and the filter.",
        quoted=False,
    ),
    "DependencyFailedException": _outage("something the knowledge base depends on failed (its store or its model)"),
    "BadGatewayException": _outage("something the knowledge base depends on failed (its store or its model)"),
    "InternalServerException": _outage("Bedrock failed inside"),
    "ServiceUnavailableException": _outage("Bedrock is not available"),
    "ConflictException": _outage("Bedrock is busy with this knowledge base"),
    "ReadTimeoutError": _outage(
        "Bedrock did not answer within {timeout:g} seconds",
        "Ask something narrower or lower max_results, or raise BEDROCK_KB_TIMEOUT.",
    ),
    "ConnectTimeoutError": _outage("Bedrock could not be reached in time", NETWORK),
    "EndpointConnectionError": _outage("Bedrock could not be reached", NETWORK),
    "ProxyConnectionError": _outage("the proxy to Bedrock could not be reached", NETWORK),
    "SSLError": Verdict(
        ServiceError,
        "the connection to Bedrock could not be trusted",
        "If a proxy inspects traffic here, set AWS_CA_BUNDLE to its certificate.",
    ),
    "ConnectionError": _outage("the connection to Bedrock failed", NETWORK),
    "HTTPClientError": _outage("the connection to Bedrock failed", NETWORK),
    "HTTPError": _UNREADABLE,
    "ParserError": _UNREADABLE,
    "BrokenStreamError": _UNREADABLE,
}
OTHER = Verdict(ServiceError, "the call to Bedrock failed", "Try again; if it fails again, look the code up with AWS.")

# One code stands for many reasons here, and only AWS's words tell them apart.
NO_MODEL = (
    "access to the model",
    "Request access to the model of BEDROCK_MODEL_ARN in the Bedrock console, under Model access.",
)
HINTS = {
    "AccessDeniedException": (NO_MODEL,),
    "ValidationException": (
        NO_MODEL,
        (
            "on-demand throughput",
            "Set BEDROCK_MODEL_ARN to an inference profile of that model: it cannot be called by itself.",
        ),
        ("model identifier", "Set BEDROCK_MODEL_ARN to a model or inference profile of this region ({region})."),
        ("managed knowledge base", "This is a managed knowledge base: use kb_search, which works with it."),
        (
            "rerank",
            "Unset BEDROCK_RERANK_MODEL_ARN, or ask for access to that reranking model in this region ({region}).",
        ),
        ("hybrid", "Use search_type SEMANTIC: the store of this knowledge base cannot search for words."),
        ("session", "Leave session_id out to begin a new conversation."),
        ("guardrail", "Check BEDROCK_GUARDRAIL_ID and BEDROCK_GUARDRAIL_VERSION."),
    ),
}

_QUOTED_VALUE = re.compile(r"\b([Vv]alue) '.*?' at '", re.DOTALL)
_ACCESS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}")


def error_of(fault: Fault, config: KBConfig, *, hidden: Iterable[str] = ()) -> KBError:
    """The error to raise; its text holds nothing of `hidden`, which are the arguments of the call."""
    code = fault.names[0]
    verdict = next((VERDICTS[name] for name in fault.names if name in VERDICTS), OTHER)
    words = _safe(fault.words, hidden) if verdict.quoted else ""
    advice = _hint(code, words) or verdict.advice
    text = f"{verdict.says} ({code}{': ' if words else ''}{_cut(words)}). {advice}"
    return verdict.kind(_fill(text, fault, config), code=code, retryable=verdict.retryable, request_id=fault.request_id)


def _fill(text: str, fault: Fault, config: KBConfig) -> str:
    values = {
        "{login}": _how_to_login(config),
        "{profile}": f" --profile {config.profile}" if config.profile else "",
        "{region}": config.aws_region,
        "{timeout:g}": f"{config.timeout:g}",
        "{seconds}": str(fault.retry_after or WAIT_SECONDS),
    }
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _how_to_login(config: KBConfig) -> str:
    if config.profile:
        return (
            f"Run `aws sso login --profile {config.profile}`, or renew that profile's keys, "
            "then call again; the server need not be restarted."
        )
    return "Set AWS_PROFILE to a profile that is signed in, or give this server keys that are valid, and restart it."


def _hint(code: str, words: str) -> str | None:
    return next((hint for part, hint in HINTS.get(code, ()) if part in words.lower()), None)


def _safe(words: str, hidden: Iterable[str]) -> str:
    for value in sorted(filter(None, hidden), key=len, reverse=True):
        words = _without(words, value)
    words = _without_quoted(words)
    return _ACCESS_KEY.sub("***", redact(" ".join(words.split())))


def _without_quoted(words: str) -> str:
    """Each is looked for only where one ends, so that words without an end are not searched over and over."""
    head, mark, rest = words.rpartition("' at '")
    return _QUOTED_VALUE.sub(r"\1 at '", head + mark) + rest


def _without(words: str, value: str) -> str:
    """A short value is left out only where it stands alone: a question of one letter shall not riddle the text."""
    if len(value) >= SHORT:
        return words.replace(value, "…")
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", words)


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}…"
