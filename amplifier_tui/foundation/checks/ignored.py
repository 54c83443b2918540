"""What a bundle's files say that does not count, though whoever wrote it meant something.

`bundle validate` tells it, and every opening, of the files of the user and the project: nobody can
correct a stranger's.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.foundation.bundle.definitions import read_agent_file
from amplifier_tui.foundation.bundle.loading import read_bundle_file
from amplifier_tui.foundation.bundle.model import BundleData, Origin, is_settings_origin
from amplifier_tui.foundation.checks.bundle_file import (
    Problem,
    check_bundle_file,
    ignored_keys,
    problem_of,
)
from amplifier_tui.foundation.checks.known_keys import unknown_agent_keys
from amplifier_tui.foundation.checks.module_settings import settings_problems
from amplifier_tui.foundation.checks.validator import lacks_for_a_session
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.trust.owners import Owner

_OWN: Final = (Owner.USER, Owner.PROJECT)
_MOST: Final = 3


def ignored_of(bundle: BundleData) -> Iterator[Problem]:
    """Yield what of a bundle, its settings applied, does not count; reads its files."""
    for path in _own_files(bundle):
        yield from ignored_keys(path)
    for name in bundle.agents:
        file = bundle.resolve_agent_path(name)
        if file is not None and _is_own(bundle.origins.get(f"agent:{name}", ())):
            yield from agent_problems(file, name)
    yield from settings_problems(bundle)


def agent_problems(path: Path, name: str) -> Iterator[Problem]:
    """Yield what is wrong with an agent's file, or means nothing in it."""
    try:
        file = read_bundle_file(path)
        read_agent_file(path, name)
    except BundleError as error:
        yield problem_of(error)
        return
    except (OSError, ValueError) as error:
        yield Problem(str(error).removeprefix(f"{path}: "), "error", path)
    for keys, message, remedy in unknown_agent_keys(file.data):
        yield Problem(message, "warning", path, file.line_of(keys), remedy)


def why_no_session(bundle: BundleData) -> str:
    """Return why no session can be opened with a composed bundle; empty when one can.

    What is wrong with its own file may be why: it is said as well.
    """
    lacking = lacks_for_a_session(bundle)
    if not lacking or bundle.source_file is None:
        return lacking
    found = [
        f"{each.message}{f' (line {each.line})' if each.line else ''}. {each.remedy}".rstrip()
        for each in check_bundle_file(bundle.source_file)[:_MOST]
    ]
    return " ".join([f"{lacking.rstrip('.')}.", *found]) if found else lacking


def _own_files(bundle: BundleData) -> Iterator[Path]:
    by_path: dict[Path, list[Origin]] = {}
    if bundle.source_file is not None:
        by_path[bundle.source_file] = []
    for origins in bundle.origins.values():
        for each in origins:
            if each.path is not None and not is_settings_origin(each):
                by_path.setdefault(each.path, []).append(each)
    yield from (path for path, origins in by_path.items() if _is_own(origins))


def _is_own(origins: Iterable[Origin]) -> bool:
    return all(each.owner in _OWN for each in origins)
