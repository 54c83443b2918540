"""What can be done about a module that did not load."""

import os
import shlex
from collections.abc import Mapping

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.foundation.checks.opening_report import how_to_install
from amplifier_tui.host.session.modules.facts import Planned
from amplifier_tui.host.turns.sources import PIPELINE
from amplifier_tui.kernel.loader import ModuleValidationError
from amplifier_tui.kernel.mounting.errors import MissingModuleError, capability_remedy
from amplifier_tui.kernel.mounting.sources import ModuleLoadError


def remedy_for(planned: Planned, error: BaseException | str, asked: Mapping[str, bool]) -> str:
    """Return what to do; empty where nothing is known.

    Args:
        asked: Whether a capability that its mount asked for was offered, by name.
    """
    if planned.missing:
        return f"Set {' or '.join(planned.missing)} in the environment or in keys.env."
    if isinstance(error, MissingModuleError | ModuleValidationError) and error.remedy:
        return error.remedy
    if isinstance(error, MissingModuleError):
        return ""
    text = str(error)
    if isinstance(error, ModuleValidationError | ModuleLoadError):
        return f"Run `{_validation(planned)}`: it says what to correct."
    if "not found" in text or "No module named" in text:
        return how_to_install(planned.module_id)
    return _how_to_ask(error, asked)


def _how_to_ask(error: BaseException | str, asked: Mapping[str, bool]) -> str:
    """Return what to do where a module uses a capability that the session has not."""
    remedy = "" if isinstance(error, str) else capability_remedy(error, asked)
    if remedy and not asked.get(PIPELINE, True):
        remedy += ". Or use a bundle with context-pipeline"
    return f"{remedy}." if remedy else ""


def _validation(planned: Planned) -> str:
    """Return the command that checks a module: by its folder where it is on this machine."""
    folder = planned.source.removeprefix("file://")
    target = shlex.quote(folder) if os.path.isabs(folder) else planned.module_id
    kind = f" --type {planned.kind}" if planned.kind not in ("resolver", "unknown") else ""
    return as_typed(f"amplifier-tui module validate {target}{kind}")
