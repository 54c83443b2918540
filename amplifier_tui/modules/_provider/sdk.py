"""A vendor's SDK: whether it is installed, its import in a thread, its client's arguments."""

import asyncio
import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.modules._provider.settings import ProviderSettings

_PAUSE: Final = 0.25
"""Seconds from the session being ready to the import of the SDK."""


def require_sdk(package: str, settings: ProviderSettings) -> None:
    """Raise a `ConfigurationError` that says what to install where an SDK is missing."""
    if find_spec(package) is None:
        raise ConfigurationError(
            f"{settings.module} needs the package `{package}`, which is not installed. "
            f"Install it beside this program: pip install 'amplifier-tui[{package}]'.",
            provider=settings.provider,
        )


def client_options(package: str, settings: ProviderSettings) -> dict[str, Any]:
    """Return the arguments of an SDK's client."""
    from amplifier_tui.modules._provider.http import guarded_client

    sdk = importlib.import_module(package)
    return {
        "api_key": settings.api_key,
        "base_url": settings.url,
        "max_retries": 0,
        "timeout": sdk.Timeout(settings.timeout, connect=settings.connect_timeout),
        "http_client": guarded_client(sdk, settings),
    }


class SDKImport:
    """Imports an SDK in a thread, once; it takes about a second.

    Args:
        load: Imports what a request needs.
    """

    def __init__(self, load: Callable[[], None]) -> None:
        self._load = load
        self._task: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None

    def begin_soon(self) -> None:
        """Begin once the session has been shown, which the import would hold up."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_PAUSE, self._begin)

    async def wait(self) -> None:
        """Wait until the SDK is imported, without holding up the loop."""
        self._begin()
        if self._task is not None:
            await asyncio.shield(self._task)

    def stop(self) -> None:
        """Wait no longer; the next `wait` begins again."""
        if self._soon is not None:
            self._soon.cancel()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(asyncio.to_thread(self._load))
