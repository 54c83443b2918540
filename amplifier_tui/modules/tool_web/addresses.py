"""Which addresses of the web may be reached: how they are written, and where they lead.

A name is judged twice: as it is written, and by the IP addresses it stands for when a connection
is made. Whatever is not the public internet is refused.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from amplifier_tui.base.text import one_line
from amplifier_tui.modules._shared.tool import ToolProblem

PRIVATE: Final = "private_address"
DENIED_HOST: Final = "denied_host"
"""Kinds of problems with where an address leads."""

_PORTS: Final = {"http": 80, "https": 443}
_LOWEST_PORT: Final = 1024
"""Below it only the web's own ports are reached: other services might take a request for theirs."""
_LONGEST: Final = 4_000
_UNCLEAR: Final = re.compile(r"[\x00-\x20\x7f\\]")
_NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IN_BRACKETS: Final = re.compile(r"\[[0-9a-fA-F:.]+\](:[0-9]*)?")
_PATH: Final = "/%:@!$&'()*+,;=~-._"

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC: Final = (
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("192.0.0.0/24"),
    IPv4Network("168.63.129.16/32"),  # a cloud's own service to its machines
)


class WebAddress(NamedTuple):
    """An address as it is requested; `target` is its path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port is left out where it is usual."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return self.origin + self.target

    def follow(self, location: str) -> "WebAddress":
        """Return where a redirect leads.

        Raises:
            ToolProblem: To an address that can't be requested.
        """
        return read_address(urljoin(self.url, location))

    def may_lead_to(self, other: "WebAddress") -> bool:
        """Whether a redirect may be followed unasked: the same server, or its encrypted side."""
        if (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port):
            return True
        encrypted = (self.scheme, other.scheme) == ("http", "https")
        usual = (self.port, other.port) == (_PORTS["http"], _PORTS["https"])
        return encrypted and usual and self.host == other.host


def read_address(text: str) -> WebAddress:
    """Read an address, in one way only: what two readers may take for two servers is refused.

    Raises:
        ToolProblem: It can't be requested; the message says how it can.
    """
    shown = one_line(text, 200)
    if len(text) > _LONGEST:
        raise _refused(f"The address is longer than {_LONGEST} characters.")
    if _UNCLEAR.search(text):
        raise _refused(f"{shown} has blanks, control characters or backslashes: encode them (%20).")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _refused(f"{shown} is no address: {error}.") from error
    if parts.scheme not in _PORTS:
        raise _refused(f"{shown} is no address of the web: it must begin with https:// or http://.")
    if "@" in parts.netloc:
        raise _refused("The address holds a user name or password: leave them out.")
    if "[" in parts.netloc and not _IN_BRACKETS.fullmatch(parts.netloc):
        raise _refused(f"{shown} is no address: the server's name is unclear.")
    host = _read_host((parts.hostname or "").removesuffix("."), shown)
    port = _PORTS[parts.scheme] if port is None else port
    if port < _LOWEST_PORT and port not in _PORTS.values():
        raise _refused(f"Port {port} is no port of the web.")
    query = f"?{quote(parts.query, safe=_PATH + '?[]')}" if parts.query else ""
    target = (quote(parts.path, safe=_PATH) or "/") + query
    return WebAddress(parts.scheme, host, port, target)


def _read_host(host: str, shown: str) -> str:
    if not host:
        raise _refused(f"{shown} names no server.")
    if not host.isascii():
        raise _refused(f"{shown}: write the server's name in its ASCII form{_ascii(host)}.")
    if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            address = ip_address(host)
            # Written as the address that is reached: the one that settings name.
            return str(getattr(address, "ipv4_mapped", None) or address)
        except ValueError as error:
            raise _refused(f"{shown}: {host} is an unusual form of an IP address.") from error
    if not _NAME.fullmatch(host):
        raise _refused(f"{shown}: {host} is no name of a server.")
    return host


def _ascii(host: str) -> str:
    try:
        return f", {host.encode('idna').decode('ascii')}"
    except UnicodeError:
        return " (xn--…)"


def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is None:
            tunnel = address.sixtofour is not None or address.teredo is not None
            return address.is_global and address in _GLOBAL_UNICAST and not tunnel
        address = inner
    if address.is_multicast or address.is_reserved:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that is reached by an IPv6 address."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


def named(host: str, patterns: Iterable[str]) -> bool:
    """Whether a host is one of these names; `*.example.org` is every name below `example.org`."""
    return any(fnmatchcase(host, pattern.lower()) for pattern in patterns)


def check_public(host: str, addresses: Iterable[str], private_hosts: Iterable[str]) -> None:
    """Check that what a host stands for may be reached.

    Raises:
        ToolProblem: It has an address that is not public, and no setting says that it may.
    """
    private = next((address for address in addresses if not is_public(address)), None)
    if private is not None and not named(host, private_hosts):
        raise ToolProblem(
            f"{host} is {private}, which is not an address of the public internet, and was not "
            "contacted. If it is meant, the user can add the name to `private_hosts` of tool-web.",
            PRIVATE,
        )


def _refused(message: str) -> ToolProblem:
    return ToolProblem(message, "invalid_address")
