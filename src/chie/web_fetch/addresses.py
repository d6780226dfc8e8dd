"""Which IP addresses belong to the public internet, and which to this machine or its network."""

import ipaddress
import socket
from contextlib import closing

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# `is_global` covers most of these, but older Python releases miss some, and IANA counts a few as global.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",  # shared address space; Alibaba Cloud's metadata service is in it
            "168.63.129.16/32",  # Azure's virtual host
            "192.0.0.0/24",  # Oracle Cloud's metadata service is in it
            "192.88.99.0/24",
            "198.18.0.0/15",
            "240.0.0.0/4",
            "::/96",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
            "fc00::/7",
            "fe80::/10",
            "fec0::/10",
        ),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def parse_address(text: str) -> IPAddress:
    """An IPv4 address inside an IPv6 one is returned as IPv4, because that is where a connection goes."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inside = address.ipv4_mapped or address.sixtofour
    if inside is None and address in _NAT64:
        inside = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inside or address


def is_public(address: IPAddress) -> bool:
    """Whether it is a unicast address of the public internet, and not one of this machine's own."""
    special = address.is_multicast or address.is_reserved or any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not special and not _is_own(address)


def _is_own(address: IPAddress) -> bool:
    """A socket can be bound to the machine's own addresses only.

    Where the kernel permits others too (`ip_nonlocal_bind`), the route decides: to itself, a machine uses the same
    address on both ends. Connecting a datagram socket sends nothing.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
            probe.bind((str(address), 0))
        with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
            probe.connect((str(address), 9))
            return bool(probe.getsockname()[0] == str(address))
    except OSError:
        return False
