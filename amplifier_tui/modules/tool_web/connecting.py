"""Connections that lead to no other address than the one that was checked.

Imported with the first request: HTTP takes its time to import.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore2

from amplifier_tui.modules.tool_web.addresses import check_public

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the IP addresses of a host, the preferred one first."""


async def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host as the system knows them.

    Raises:
        OSError: It has none.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Looks a name up once, judges every address it has, and connects to one of these.

    A second look-up could have another answer (DNS rebinding). TLS still checks the name.

    Args:
        private_hosts: Names that may stand for addresses that are not public.
        inner: Makes the connections.
        resolve: Looks names up.
    """

    def __init__(
        self,
        private_hosts: Iterable[str],
        inner: httpcore2.AsyncNetworkBackend | None = None,
        resolve: Resolve = resolve,
    ) -> None:
        self._private_hosts = tuple(private_hosts)
        self._inner = inner or httpcore2.AnyIOBackend()
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a host.

        Raises:
            ToolProblem: It has an address that is not public.
            httpcore2.ConnectError: It has no address, or can't be reached.
        """
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"{host} was not found: {error}") from error
        check_public(host, addresses, self._private_hosts)
        failure = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore2.ConnectError as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""
        await self._inner.sleep(seconds)
