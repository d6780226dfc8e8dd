"""Errors of language models."""

from chie.errors import ServiceError


class ModelError(ServiceError):
    """The model's server is unreachable, returns an error or breaks off."""
