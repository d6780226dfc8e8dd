"""Checks what an admin enters. No error holds a key."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from chie.chat.endpoints.endpoint import StoredEndpoint
from chie.errors import ValidationError
from chie.http.values import is_header_value, is_http_url

MAX_NAME = 80
_REGION = re.compile(r"[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}")
_METADATA_HOSTS = ("metadata", "metadata.google.internal", "instance-data")


def check_endpoint(endpoint: StoredEndpoint) -> None:
    """ValidationError for the first thing that is wrong."""
    check_name(endpoint.name)
    for value in endpoint.secret.values():
        if not value or not is_header_value(value):
            raise ValidationError("endpoints.key_invalid")
    if endpoint.kind == "bedrock":
        _check_bedrock(endpoint)
        return
    if endpoint.settings.url is not None:
        check_url(endpoint.settings.url)
    if endpoint.kind != "openai" and not (endpoint.secret or endpoint.has_secret):
        raise ValidationError("endpoints.key_missing")


def check_name(name: str) -> None:
    if not name or len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise ValidationError("endpoints.name_invalid", most=MAX_NAME)


def check_url(url: str, *, query_allowed: bool = False) -> None:
    """A password or a query would be a secret that is shown; the metadata services of clouds give out credentials."""
    if not is_http_url(url):
        raise ValidationError("endpoints.url_invalid")
    parts = urlsplit(url)
    if "@" in parts.netloc or (not query_allowed and (parts.query or parts.fragment)):
        raise ValidationError("endpoints.url_with_secret")
    if _is_metadata_service(parts.hostname or ""):
        raise ValidationError("endpoints.url_forbidden")


def _is_metadata_service(host: str) -> bool:
    if host.rstrip(".").lower() in _METADATA_HOSTS:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_link_local or str(getattr(address, "ipv4_mapped", None) or address).startswith("169.254.")


def _check_bedrock(endpoint: StoredEndpoint) -> None:
    if not _REGION.fullmatch(endpoint.region):
        raise ValidationError("endpoints.region_invalid")
    if bool(endpoint.secret.get("access_key_id")) != bool(endpoint.secret.get("secret_access_key")):
        raise ValidationError("endpoints.both_keys_needed")
    if endpoint.settings.profile and (endpoint.secret or endpoint.has_secret):
        raise ValidationError("endpoints.profile_or_keys")
