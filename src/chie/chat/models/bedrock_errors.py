"""What went wrong at Amazon Bedrock, and what to do about it, told by the kinds of error alone."""

_ADVICE = {
    "AccessDeniedException": "refused access. Allow bedrock:InvokeModelWithResponseStream for it, and enable the "
    "model in the console.",
    "ExpiredTokenException": "says that the credentials have expired. Log in again, for example with: aws sso login.",
    "ResourceNotFoundException": "does not know this model. Correct CHIE_AWS_MODEL, or AWS_REGION.",
    "ThrottlingException": "is busy, or the quota is used up. Wait a little, then try again.",
    "ServiceQuotaExceededException": "says that the quota is used up. Wait, or ask AWS for a higher one.",
    "ValidationException": "does not take this request: the conversation may be too long, or the model may need an "
    "inference profile. Start a new conversation, or correct CHIE_AWS_MODEL.",
    "ModelNotReadyException": "is still loading the model. Try again in a minute.",
}
_UNKNOWN_CALLER = {
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
}
_CREDENTIALS = "does not accept the AWS credentials. Correct AWS_PROFILE or the keys."
_AGAIN = "failed. Try again; the log has the reason."


def explain(error: Exception, seconds: float) -> str:
    """The end of a sentence about Bedrock."""
    from botocore.exceptions import ClientError

    if isinstance(error, ClientError):
        return _by_code(str(error.response.get("Error", {}).get("Code", "")))
    advice = next((words for kinds, words in _local() if isinstance(error, kinds)), _AGAIN)
    return advice.format(seconds=seconds)


def _by_code(code: str) -> str:
    """Codes of faults within a stream begin in lower case."""
    code = code[:1].upper() + code[1:]
    return _CREDENTIALS if code in _UNKNOWN_CALLER else _ADVICE.get(code, _AGAIN)


def _local() -> list[tuple[tuple[type[Exception], ...], str]]:
    """Faults that boto3 finds by itself; a stream that stalls is urllib3's own."""
    from botocore import exceptions as aws
    from botocore.eventstream import ParserError
    from urllib3.exceptions import ProtocolError, ReadTimeoutError

    return [
        (
            (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError),
            "needs AWS credentials, and none were found. Set AWS_PROFILE, or run: aws configure.",
        ),
        ((aws.ProfileNotFound,), "needs the profile that AWS_PROFILE names, and there is none. Correct AWS_PROFILE."),
        ((aws.SSOError, aws.TokenRetrievalError), "needs a fresh login. Run: aws sso login."),
        (
            (aws.ReadTimeoutError, ReadTimeoutError),
            "was silent for {seconds:g} seconds. Try again, or raise CHIE_MODEL_TIMEOUT.",
        ),
        ((ProtocolError, ParserError), "broke off in the middle of its answer. Try again."),
        (
            (aws.EndpointConnectionError, aws.ConnectTimeoutError, aws.ConnectionClosedError),
            "cannot be reached. Look at the network, the proxy and AWS_REGION.",
        ),
    ]
