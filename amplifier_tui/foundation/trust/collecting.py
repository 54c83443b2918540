"""Finding all code that opening a bundle would run, before any of it does."""

import asyncio
import contextlib
from pathlib import Path

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.preparing import modules_with_source, package_folders
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.project import read_project
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.code import CodeSource, source_of
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview


async def collect_code(
    bundle: BundleData, review: TrustReview, cache_dir: Path, fetch: FetchContext
) -> None:
    """Have a review see whatever code a bundle would run; nothing is fetched.

    Args:
        bundle: With its settings and agents.
        fetch: How the bundle itself was loaded.
    """
    looking = FetchContext(offline=True, lock=fetch.lock)
    sources = SimpleSourceResolver(cache_dir, bundle.base_path, context=looking)
    wanted = modules_with_source(bundle)
    for entry in wanted:
        needs: tuple[str, ...] = ()
        with contextlib.suppress(BundleError):  # not fetched yet, or it can't be had
            source = await sources.resolve(entry["source"])
            needs = (await asyncio.to_thread(read_project, source.active_path)).dependencies
        # Whose word the source itself is has been noted where it was read.
        found = CodeSource(
            source_of(entry["source"]), (entry["module"],), tuple(entry["included_by"]), "", needs
        )
        review.announce(found, Owner.USER)
    known = {**looking.resolved, **fetch.resolved}

    def look() -> None:
        for entry in wanted:
            review.allows_source(entry["source"], known)
        for folder in package_folders(bundle):
            if read_project(folder).is_package:
                review.allows_source(str(folder), known)

    await asyncio.to_thread(look)
