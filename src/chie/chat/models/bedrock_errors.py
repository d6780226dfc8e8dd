"""Maps errors of boto3 and Amazon Bedrock to error codes: by their type, and a rejected request by its text."""

from typing import TYPE_CHECKING

from chie.chat.models.endpoint import BEDROCK_VARIABLES, SettingNames
from chie.chat.models.errors import ContextError, ModelError, ReasoningError
from chie.chat.models.model_parameters import in_words
from chie.chat.models.provider_error import read_error

if TYPE_CHECKING:
    from chie.messages.catalogue import Param

_CODES = {
    "AccessDeniedException": "models.bedrock_access_denied",
    "ExpiredTokenException": "models.bedrock_credentials_expired",
    "ResourceNotFoundException": "models.bedrock_model_not_found",
    "ThrottlingException": "models.bedrock_throttled",
    "ServiceQuotaExceededException": "models.bedrock_quota_exceeded",
    "ValidationException": "models.bedrock_request_rejected",
    "ModelNotReadyException": "models.bedrock_model_not_ready",
    "UnrecognizedClientException": "models.bedrock_credentials_rejected",
    "InvalidSignatureException": "models.bedrock_credentials_rejected",
    "MissingAuthenticationTokenException": "models.bedrock_credentials_rejected",
    "IncompleteSignatureException": "models.bedrock_credentials_rejected",
    "InvalidClientTokenId": "models.bedrock_credentials_rejected",
}
_REJECTED = "models.bedrock_request_rejected"
_CODES_BY_CAUSE = {"tools": "models.bedrock_tools_unsupported", "images": "models.bedrock_images_unsupported"}
_NAMED = {
    **dict.fromkeys((_REJECTED, *_CODES_BY_CAUSE.values()), ("model_setting",)),
    "models.bedrock_credentials_expired": ("setting",),
    "models.bedrock_credentials_missing": ("setting",),
    "models.bedrock_credentials_rejected": ("setting",),
    "models.bedrock_profile_not_found": ("setting",),
    "models.bedrock_model_not_found": ("model_setting", "region_setting"),
    "models.bedrock_unreachable": ("region_setting",),
}
_TIMEOUT = "models.bedrock_timeout"
_FAILED = "models.bedrock_failed"


def translate(
    error: Exception, *, region: str, model: str, timeout: float, settings: SettingNames = BEDROCK_VARIABLES
) -> ModelError:
    from botocore.exceptions import ClientError

    if isinstance(error, ClientError):
        told = error.response.get("Error", {})
        code = _by_aws_code(str(told.get("Code", "")))
        if code == _REJECTED:
            return _rejected(str(told.get("Message", "")), region=region, model=model, settings=settings)
    else:
        code = next((code for types, code in _local_errors() if isinstance(error, types)), _FAILED)
    params: dict[str, Param] = {"region": region, "model": model}
    if code == _TIMEOUT:
        params["seconds"] = f"{timeout:g}"
    return ModelError(code, **params, **_names(code, settings))


def _names(code: str, settings: SettingNames) -> "dict[str, Param]":
    """The settings that the text of this code names."""
    names: dict[str, Param] = {
        "setting": settings.api_key,
        "region_setting": settings.url,
        "model_setting": settings.model,
    }
    return {name: names[name] for name in _NAMED.get(code, ())}


def _rejected(text: str, *, region: str, model: str, settings: SettingNames) -> ModelError:
    error = read_error(text)
    if error.cause == "context":
        code = "models.bedrock_conversation_too_long"
        return ContextError(code, limit=error.limit, used=error.used, region=region, model=model)
    if error.cause == "reasoning":
        url = f"bedrock-runtime.{region}.amazonaws.com"
        return ReasoningError("models.reasoning_refused", url=url, model=model, status="ValidationException")
    if error.parameter:
        words = in_words(error.parameter)
        return ModelError("models.parameter_refused", parameter=words, model=model, status="ValidationException")
    code = _CODES_BY_CAUSE.get(error.cause or "", _REJECTED)
    return ModelError(code, region=region, model=model, **_names(code, settings))


def _by_aws_code(aws_code: str) -> str:
    """Errors within a stream have codes that start in lower case."""
    return _CODES.get(aws_code[:1].upper() + aws_code[1:], _FAILED)


def _local_errors() -> list[tuple[tuple[type[Exception], ...], str]]:
    """Errors raised on this side. A stalled stream raises urllib3's own timeout."""
    from botocore import exceptions as aws
    from botocore.eventstream import ParserError
    from urllib3.exceptions import ProtocolError, ReadTimeoutError

    missing = (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError)
    unreachable = (aws.EndpointConnectionError, aws.ConnectTimeoutError, aws.ConnectionClosedError)
    return [
        (missing, "models.bedrock_credentials_missing"),
        ((aws.ProfileNotFound,), "models.bedrock_profile_not_found"),
        ((aws.SSOError, aws.TokenRetrievalError), "models.bedrock_login_required"),
        ((aws.ReadTimeoutError, ReadTimeoutError), _TIMEOUT),
        ((ProtocolError, ParserError), "models.bedrock_connection_broken"),
        (unreachable, "models.bedrock_unreachable"),
    ]
