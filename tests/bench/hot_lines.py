"""What the sampler found, in words."""

import json
from pathlib import Path
from typing import Any

from tests.bench.sampler import BEFORE_A_WAIT, STALLS

HOTTEST = 15
OWN = 8
LEAST = 0.2
"""Part of the busiest process's time below which another one is left out."""


def report(folder: Path) -> str:
    """Return where the time went, for each kind of process.

    Args:
        folder: Where the sampled processes wrote.
    """
    merged: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        into = merged.setdefault(
            found["label"], {"times": 0, "lines": {}, "via": {}, "below": {}, "stalls": []}
        )
        into["times"] += 1
        into["stalls"] += found["stalls"]
        for line, own, used in found["spots"]:
            into["lines"][line] = into["lines"].get(line, 0) + used
            via = into["via"].setdefault(line, {})
            via[own] = via.get(own, 0) + used
        for line, used in found["below"]:
            into["below"][line] = into["below"].get(line, 0) + used
    totals = {label: sum(found["lines"].values()) for label, found in merged.items()}
    busiest = max(totals.values(), default=0)
    shown = [
        _process(label, found, totals[label])
        for label, found in merged.items()
        if totals[label] >= LEAST * busiest and totals[label]
    ]
    return "\n\n".join(shown) or "Nothing was sampled."


def _process(label: str, found: dict[str, Any], total: int) -> str:
    times = f", {found['times']} times" if found["times"] > 1 else ""
    unseen = found["lines"].pop(BEFORE_A_WAIT, 0)
    lines = [
        f"{label}{times}: {total / 1e9:.2f} s of processor time, {unseen / total:.0%} of it in "
        "pieces too short to be seen",
        "",
        "   self  hottest lines",
    ]
    for line, used in _most(found["lines"], HOTTEST):
        own, _ = _most(found["via"][line], 1)[0]
        via = f"  ← {own}" if own and own != line else ""
        lines.append(f"  {used / total:5.1%}  {line}{via}")
    if found["below"]:
        lines += ["", "  below  lines of the program under which most was spent"]
        lines += [f"  {used / total:5.1%}  {line}" for line, used in _most(found["below"], OWN)]
    for milliseconds, used, spots in sorted(found["stalls"], reverse=True)[:STALLS]:
        lines += [
            "",
            f"  a stall of {milliseconds:.0f} ms, in which the process used a processor for "
            f"{used:.0f} ms",
        ]
        lines += [f"  {ms:5.1f} ms  {line}" for ms, line in spots]
    return "\n".join(lines)


def _most(values: dict[str, int], count: int) -> list[tuple[str, int]]:
    return sorted(values.items(), key=lambda item: -item[1])[:count]
