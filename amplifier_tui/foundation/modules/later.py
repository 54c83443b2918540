"""Activating one module for a session that runs already."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.activator import ModuleActivator
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.trust.code import CodeSource, source_of
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview
from amplifier_tui.kernel.mounting.discovery import declared_kind
from amplifier_tui.kernel.mounting.packages.finding import declared_modules, find_package_dir

_PACKAGE = "amplifier_module_"


async def activate_later(
    module_id: str, uri: str, review: TrustReview, owner: Owner, *, home: Path, base: Path
) -> tuple[Path, Callable[[], None]]:
    """Fetch a module if need be, ask whether its code may run as it is now, and install its needs.

    Args:
        owner: Whose word it is that it is wanted.
        home: The Amplifier home.
        base: Folder that a relative path starts from.

    Returns:
        The folder that has its package, and what takes its needs off `sys.path` again.

    Raises:
        BundleError: It can't be had, or it was refused.
    """
    review.announce(CodeSource(source_of(uri), (module_id,), ("this session",)), owner)
    while True:
        fetch = FetchContext(review.gate(), review=review)
        activator = ModuleActivator(home / "cache", base_path=base, fetch=fetch, put_on_path=False)
        try:
            path = await activator.activate(module_id, uri)
        except BundleError:
            # It may have failed for the very thing that is to be asked about.
            if not await review.settle():
                raise
        else:
            if not await review.settle():
                return path, activator.enter()


async def module_in(folder: Path) -> tuple[str, str]:
    """Return id and kind of the module in a folder; runs none of its code.

    Raises:
        BundleError: There is none.
    """
    return await asyncio.to_thread(_module_in, folder)


def _module_in(folder: Path) -> tuple[str, str]:
    package = find_package_dir("", folder)
    if package is None:
        raise BundleError("There is no module: a folder with a Python package is one", path=folder)
    named = next(iter(declared_modules(folder)), "")
    module_id = named or package.name.removeprefix(_PACKAGE).replace("_", "-")
    return module_id, declared_kind(module_id, package / "__init__.py")
