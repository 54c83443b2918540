"""Loading and composing a tree of 100 includes.

The goal is for a warm load, which is a new registry in a program that runs, with the files in the
system's cache. The tree is four levels deep and each bundle has modules, an agent, context
and an instruction of its own; a tenth of the includes go over `ns:path`. Also measured: the first
load of the process, a load of what the registry has in memory, a preview, and what 20 unreachable
repositories cost a session that opens offline.
"""

import asyncio
import itertools
import logging
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.bench.table import Row

BUNDLES = 100
UNREACHABLE = 20
ROUNDS = 7
_FANOUT = (4, 12, 30)


def write_tree(folder: Path) -> Path:
    """Write the bundles; returns the root's file."""
    levels: list[list[int]] = []
    number = 1
    for size in (*_FANOUT, BUNDLES - sum(_FANOUT)):
        levels.append(list(range(number, number + size)))
        number += size
    children: dict[int, list[int]] = {0: levels[0]}
    for above, below in itertools.pairwise(levels):
        for place, child in enumerate(below):
            children.setdefault(above[place % len(above)], []).append(child)
    for bundle in range(BUNDLES + 1):
        _write(folder, bundle, children.get(bundle, []))
    return folder / "bundle.md"


def _write(folder: Path, bundle: int, children: list[int]) -> None:
    def include(child: int) -> str:
        # The namespace is that of the tree's root.
        return f"tree:parts/p{child}" if child % 10 == 0 else f"./{prefix}p{child}.md"

    prefix = "parts/" if bundle == 0 else ""
    name = "tree" if bundle == 0 else f"part-{bundle}"
    includes = "".join(f"  - {include(child)}\n" for child in children)
    text = (
        f"---\nbundle:\n  name: {name}\n  version: 1.0.0\n  description: Number {bundle}\n"
        + (f"includes:\n{includes}" if children else "")
        + "session:\n  orchestrator: {module: loop-streaming, config: {max_iterations: 9}}\n"
        "  context: {module: context-simple}\n"
        f"providers:\n  - module: provider-mock\n    config: {{n{bundle}: {bundle}}}\n"
        f"tools:\n  - module: tool-{bundle}\n    config: {{a: [1, 2, {bundle}], b: {{c: d}}}}\n"
        f"  - module: tool-filesystem\n    config: {{allowed_read_paths: [p{bundle}]}}\n"
        f"hooks:\n  - module: hooks-{bundle % 7}\n    config: {{x{bundle}: true}}\n"
        f"agents:\n  include: [agent-{bundle}]\ncontext:\n  include: [notes-{bundle % 5}.md]\n"
        f"---\nYou are number {bundle}.\n"
    )
    home = folder if bundle == 0 else folder / "parts"
    home.mkdir(parents=True, exist_ok=True)
    (folder / "bundle.md" if bundle == 0 else home / f"p{bundle}.md").write_text(text)
    agents = home / "agents"
    agents.mkdir(exist_ok=True)
    (agents / f"agent-{bundle}.md").write_text(
        f"---\nmeta: {{name: agent-{bundle}, description: Does {bundle}}}\n---\nDo {bundle}.\n"
    )
    (home / f"notes-{bundle % 5}.md").write_text("Notes.\n" * 50)


async def _best(load: Callable[[], Awaitable[Any]]) -> float:
    """Return the least milliseconds of several rounds: the machine does other things, too."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await load()
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


async def _loads(scratch: Path, project: Path) -> list[Row]:
    from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
    from amplifier_tui.foundation.workspace import Workspace

    root = write_tree(scratch / "tree")
    began = time.perf_counter()
    bundle = await load_bundle(str(root), registry=BundleRegistry())
    first = (time.perf_counter() - began) * 1000
    counts = f"{len(bundle.tools)} tools, {len(bundle.agents)} agents"
    if bundle.skipped or len(bundle.agents) != BUNDLES + 1:
        raise RuntimeError(f"The tree did not load whole: {counts}, {bundle.skipped[:2]}")

    async def warm() -> None:
        loaded = await load_bundle(str(root), registry=BundleRegistry())
        loaded.to_mount_plan()

    registry = BundleRegistry()

    async def in_memory() -> None:
        await load_bundle(str(root), registry=registry)

    async def effective() -> None:
        await Workspace.open(project).load(str(root))

    async def preview() -> None:
        await Workspace.open(project).preview(str(root))

    how = f"{BUNDLES} includes, {counts}; the best of {ROUNDS} rounds, the first load alone"

    def row(what: str, value: float, goal: float | None = None) -> Row:
        return Row(what=what, value=value, unit="ms", goal=goal, how=how)

    return [
        row("bundle of 100 includes, warm: new registry, to mount plan", await _best(warm), 300),
        row("  first load of the process", first),
        row("  from the registry in memory", await _best(in_memory)),
        row("  with settings and agents", await _best(effective)),
        row("  preview", await _best(preview)),
    ]


async def _offline(project: Path) -> Row:
    from amplifier_tui.foundation.trust.gate import trust_everything
    from amplifier_tui.foundation.workspace import Workspace

    far = "".join(f"  - git+https://nowhere.invalid/r{n}@main\n" for n in range(UNREACHABLE))
    path = project / ".amplifier" / "bundles" / "far.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nbundle: {{name: far}}\nincludes:\n{far}---\nHello.\n")
    began = time.perf_counter()
    bundle = await Workspace.open(project).load("far", trust=trust_everything)
    spent = time.perf_counter() - began
    if len(bundle.skipped) != UNREACHABLE:
        raise RuntimeError(f"Only {len(bundle.skipped)} of the includes were named as skipped")
    what = "20 unreachable git includes, all named"
    return Row(what=what, value=spent, unit="s", goal=3.0, how="a name that does not resolve")


async def _measured(scratch: Path) -> list[Row]:
    project = scratch / "project"
    project.mkdir()
    return [*await _loads(scratch, project), await _offline(project)]


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="foundation-load-") as scratch:
        home = Path(scratch) / "home"
        os.environ.update(HOME=str(home), AMPLIFIER_HOME=str(home / ".amplifier"))
        return asyncio.run(_measured(Path(scratch)))
