"""`registry.json`, shared with the Amplifier CLI."""

import json
import logging
from pathlib import Path

from amplifier_tui.foundation.io.files import write_atomically
from amplifier_tui.foundation.registry.state import BundleState

_log = logging.getLogger(__name__)

VERSION = 1


def read_states(path: Path) -> dict[str, BundleState]:
    """Read the registry; a broken file or entry is logged and left out."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        bundles = data["bundles"].items()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("%s cannot be read and is treated as empty: %s", path, error)
        return {}
    states: dict[str, BundleState] = {}
    for name, entry in bundles:
        try:
            states[name] = BundleState.from_dict(name, entry)
        except (ValueError, TypeError, AttributeError) as error:
            _log.warning("%s: entry %r is ignored: %s", path, name, error)
    return states


def write_states(path: Path, states: dict[str, BundleState]) -> None:
    """Write the registry atomically.

    Raises:
        OSError: It cannot be written.
    """
    bundles = {name: state.to_dict() for name, state in states.items()}
    text = json.dumps({"version": VERSION, "bundles": bundles}, indent=2, default=str)
    write_atomically(path, text)
