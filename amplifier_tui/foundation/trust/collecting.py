"""Finding all code that opening a bundle would run, before any of it does."""

import asyncio
from dataclasses import field
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.preparing import modules_with_source, package_folders
from amplifier_tui.foundation.exceptions import (
    BundleError,
    SourceNotFetchedError,
    TrustRefusedError,
)
from amplifier_tui.foundation.modules.project import Project, read_project
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.code import CodeSource, is_remote, source_of
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview


async def collect_code(
    bundle: BundleData, review: TrustReview, cache_dir: Path, fetch: FetchContext
) -> None:
    """Have a review see whatever code a bundle would run; only what it allows is fetched.

    Args:
        bundle: With its settings and agents.
        fetch: How the bundle itself was loaded.
    """
    seen = _Seen(review, fetch, SimpleSourceResolver(cache_dir, bundle.base_path, context=fetch))
    wanted = modules_with_source(bundle)
    for entry in wanted:
        # Whose word the source itself is has been noted where it was read.
        brings, asked_by = (entry["module"],), tuple(entry["included_by"])
        review.announce(CodeSource(source_of(entry["source"]), brings, asked_by), Owner.USER)
    projects = await asyncio.gather(*(seen.project(entry["source"]) for entry in wanted))
    for project in projects:
        if project is not None:
            await seen.sources_of(project)

    def look() -> None:
        for uri in (*(entry["source"] for entry in wanted), *seen.further):
            review.allows_source(uri, fetch.resolved)
        for folder in package_folders(bundle):
            if read_project(folder).is_package:
                review.allows_source(str(folder), fetch.resolved)

    await asyncio.to_thread(look)


@dataclass
class _Seen:
    """What is found out about the packages of modules.

    Attributes:
        further: The sources that they name for uv, and those that these name.
    """

    review: TrustReview
    fetch: FetchContext
    sources: SimpleSourceResolver
    further: list[str] = field(default_factory=list)

    async def project(self, uri: str) -> Project | None:
        """Read what a package says about itself; None while it may not, or can't, be had."""
        if uri in self.fetch.failed:
            return None
        try:
            found = await self.sources.resolve(uri)
        except (TrustRefusedError, SourceNotFetchedError):
            return None
        except BundleError as error:
            self.fetch.failed[uri] = error
            return None

        def read() -> Project:
            project = read_project(found.active_path)
            needs = CodeSource(source_of(uri), needs=project.dependencies)
            self.review.announce(needs, Owner.USER)
            if is_remote(uri):
                self.review.allows_source(uri, self.fetch.resolved, found.source_root)
            return project

        return await asyncio.to_thread(read)

    async def sources_of(self, project: Project) -> None:
        """Announce what a project gets from sources named for uv, and those from theirs."""
        if not project.sources:
            return
        # The rules of versions are for those who install something.
        from amplifier_tui.foundation.modules.needs import wanted_sources

        waiting = [project]
        while waiting:
            each = waiting.pop()
            for source in wanted_sources(each.dependencies, each.sources, every=each.is_dynamic):
                if not source.uri or source.uri in self.further:
                    continue
                self.further.append(source.uri)
                where = str(each.path / "pyproject.toml")
                item = CodeSource(source_of(source.uri), (source.name,), (each.name,), where)
                self.review.announce(item, self.review.places.owner_of(each.path), each.path)
                inner = await self.project(source.uri)
                waiting += [inner] if inner is not None else []
