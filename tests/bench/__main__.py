"""How fast the program is: `python -m tests.bench`.

Prints one table with a goal for what has one. The exit status is 1 if a goal was missed or a file
failed, 2 for a mistake on the command line.
"""

import argparse
import dataclasses
import json
import os
import platform
import signal
import sys

from tests.bench.catalog import BENCHES, Bench, bench
from tests.bench.runner import profile, run
from tests.bench.table import Section, number, table, verdict


def main() -> int:
    """Run what was asked for."""
    options = _parser().parse_args()
    # As an exception, so that what runs is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("It was ended."))
    if options.list:
        for known in BENCHES:
            print(f"{known.name:18} {known.title}")
        return 0
    try:
        chosen = [bench(name) for name in options.only] if options.only else list(BENCHES)
    except LookupError as error:
        print(f"Error: {error.args[0]}", file=sys.stderr)
        return 2
    before = os.getloadavg()[0]
    sections = [_measured(each, options.quick) for each in chosen]
    machine = _machine(before)
    if before > (os.cpu_count() or 1) / 2:
        machine += (
            "\nBusy: others use the cores as well, which stalls, echoes and stops show. What a "
            "reference or processor time stands beside can still be judged."
        )
    profiles: dict[str, str] = {}
    if options.profile:
        slow = {section.name for section in sections if not section.good}
        for each in chosen:
            if options.only or each.name in slow:
                profiles[each.name] = _profiled(each, options.quick)
    if options.json:
        print(json.dumps(_as_data(sections, profiles, machine, options.quick), indent=2))
    else:
        words = "Quick (values are rougher)" if options.quick else "Whole"
        print(f"{words}: {machine}\n\n{table(sections)}\n\n{verdict(sections)}")
        for name, found in profiles.items():
            print(f"\n── profile of {name} ──\n{found}")
    return 0 if all(section.good for section in sections) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure less, in about three minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run these files")
    parser.add_argument("--list", action="store_true", help="say which files there are")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="run files that missed a goal (with --only: those named) once more, under a "
        "sampler, and print where the time went",
    )
    return parser


def _say(line: str) -> None:
    print(f"    {line}", file=sys.stderr, flush=True)


def _measured(each: Bench, quick: bool) -> Section:
    print(f"{each.name} …", file=sys.stderr, flush=True)
    section = run(each, quick=quick, say=_say)
    missed = [row.what.strip() for row in section.rows if not row.met]
    outcome = "FAILED" if section.problem else f"missed {', '.join(missed)}" if missed else "ok"
    print(f"{each.name}: {outcome} ({section.seconds:.0f} s)", file=sys.stderr, flush=True)
    return section


def _profiled(each: Bench, quick: bool) -> str:
    print(f"{each.name}, under the sampler …", file=sys.stderr, flush=True)
    found, problem = profile(each, quick=quick, say=_say)
    return f"{found}\nIt failed under the sampler:\n{problem}" if problem else found


def _machine(before: float) -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    load = f"load {number(before)} before, {number(os.getloadavg()[0])} after"
    return f"{os.cpu_count()} cores, {platform.system()}, {python}, {load}"


def _as_data(
    sections: list[Section], profiles: dict[str, str], machine: str, quick: bool
) -> dict[str, object]:
    found = []
    for section in sections:
        rows = [
            {**dataclasses.asdict(row), "ratio": row.ratio, "met": row.met} for row in section.rows
        ]
        found.append({**dataclasses.asdict(section), "rows": rows})
    return {"machine": machine, "quick": quick, "sections": found, "profiles": profiles}


if __name__ == "__main__":
    sys.exit(main())
