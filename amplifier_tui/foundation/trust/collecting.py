"""Finding all code that opening a bundle would run, before any of it does."""

import asyncio
from pathlib import Path

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.preparing import modules_with_source, package_folders
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.project import Project, read_project
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
    further: dict[str, None] = {}
    for entry in wanted:
        project = await _project(entry["source"], sources)
        # Whose word the source itself is has been noted where it was read.
        brings, asked_by = (entry["module"],), tuple(entry["included_by"])
        needs = () if project is None else project.dependencies
        uri = entry["source"]
        review.announce(CodeSource(source_of(uri), brings, asked_by, "", needs), Owner.USER)
        if project is not None:
            further |= dict.fromkeys(await _announce_sources(project, sources, review))
    known = {**looking.resolved, **fetch.resolved}

    def look() -> None:
        for entry in wanted:
            review.allows_source(entry["source"], known)
        for uri in further:
            review.allows_source(uri, known)
        for folder in package_folders(bundle):
            if read_project(folder).is_package:
                review.allows_source(str(folder), known)

    await asyncio.to_thread(look)


async def _project(source: str, sources: SimpleSourceResolver) -> Project | None:
    """Read what a module says about itself; None while it is not fetched, or can't be had."""
    try:
        found = await sources.resolve(source)
    except BundleError:
        return None
    return await asyncio.to_thread(read_project, found.active_path)


async def _announce_sources(
    project: Project, sources: SimpleSourceResolver, review: TrustReview
) -> list[str]:
    """Announce what a project gets from sources named for uv, and what those get from theirs."""
    if not project.sources:
        return []
    # The rules of versions are for those who install something.
    from amplifier_tui.foundation.modules.needs import wanted_sources

    found: list[str] = []
    waiting = [project]
    while waiting:
        each = waiting.pop()
        for source in wanted_sources(each.dependencies, each.sources, every=each.is_dynamic):
            if not source.uri or source.uri in found:
                continue
            found.append(source.uri)
            where = str(each.path / "pyproject.toml")
            item = CodeSource(source_of(source.uri), (source.name,), (each.name,), where)
            review.announce(item, review.places.owner_of(each.path))
            inner = await _project(source.uri, sources)
            waiting += [inner] if inner is not None else []
    return found
