"""Checks what an admin enters. No error holds a key."""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from chie.chat.endpoints.endpoint import StoredEndpoint
from chie.errors import ValidationError
from chie.http.values import is_header_value, is_http_url

MAX_NAME = 80
_REGION = re.compile(r"[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}")
_METADATA_HOSTS = ("metadata", "metadata.google.internal", "instance-data")
_METADATA_NETWORKS = tuple(
    map(
        ip_network,
        (
            "169.254.0.0/16",
            "fe80::/10",
            "fd00:ec2::/32",  # AWS over IPv6
            "fd20:ce::/32",  # Google Cloud over IPv6
            "100.100.100.200/32",  # Alibaba Cloud
            "168.63.129.16/32",  # Azure's virtual host
            "192.0.0.192/32",  # Oracle Cloud
        ),
    )
)


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
    address = _address(host.rstrip("."))
    return address is not None and any(address in network for network in _METADATA_NETWORKS)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """That a connection goes to: also for an IPv4 address inside an IPv6 one, or written as one number."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return _short_address(host)
    return (address.ipv4_mapped or address.sixtofour or address) if isinstance(address, IPv6Address) else address


def _short_address(host: str) -> IPv4Address | None:
    """The system's resolver reads `2852039166`, `0xa9fea9fe` and `169.254.43518`, too."""
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _check_bedrock(endpoint: StoredEndpoint) -> None:
    if not _REGION.fullmatch(endpoint.region):
        raise ValidationError("endpoints.region_invalid")
    if bool(endpoint.secret.get("access_key_id")) != bool(endpoint.secret.get("secret_access_key")):
        raise ValidationError("endpoints.both_keys_needed")
    if endpoint.settings.profile and (endpoint.secret or endpoint.has_secret):
        raise ValidationError("endpoints.profile_or_keys")
