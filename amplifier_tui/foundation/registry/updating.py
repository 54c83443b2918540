"""Which sources of a bundle have something newer."""

import asyncio
from collections.abc import Iterable, Mapping

from amplifier_tui.foundation.paths.resolution import without_fragment
from amplifier_tui.foundation.registry.state import BundleState
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.sources.status import SourceStatus


def sources_below(states: Mapping[str, BundleState], name: str) -> list[str]:
    """Return the sources of a bundle and of everything it includes, each once, its own first."""
    sources: dict[str, None] = {}
    pending, seen = [name], set[str]()
    while pending:
        entry = pending.pop()
        state = states.get(entry)
        if state is None or entry in seen:
            continue
        seen.add(entry)
        sources[without_fragment(state.uri)] = None
        pending.extend(reversed(state.includes))
    return list(sources)


async def newer_sources(
    resolver: SimpleSourceResolver, uris: Iterable[str]
) -> dict[str, SourceStatus]:
    """Return the status of those sources that are cached and have something newer."""
    listed = list(uris)
    found = await asyncio.gather(*(resolver.get_status(uri) for uri in listed))
    return {
        uri: status
        for uri, status in zip(listed, found, strict=True)
        if status.has_update and status.is_cached
    }
