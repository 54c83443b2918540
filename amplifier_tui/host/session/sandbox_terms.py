"""How the commands of a session are confined: the user's setting, and what they must not see."""

from typing import Any, Final

from amplifier_tui.foundation.settings.settings import Scope, SettingsProblem
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.kernel.session.grant import SandboxTerms
from amplifier_tui.paths import amplifier_home, user_config_dir, user_log_dir, user_state_dir

_SETTING: Final = "sandbox"
# YAML takes an unquoted `off` for false.
_MODES: Final[dict[Any, SandboxTerms]] = {
    None: SandboxTerms("auto"),
    True: SandboxTerms("auto"),
    "auto": SandboxTerms("auto"),
    "required": SandboxTerms("required"),
    False: SandboxTerms("off"),
    "off": SandboxTerms("off"),
}


def sandbox_terms(workspace: Workspace) -> tuple[SandboxTerms, SettingsProblem | None]:
    """Return the terms, and what is wrong with the setting.

    Only the user's own settings count. A value that means nothing is taken for `required`.
    """
    hidden = (amplifier_home(), user_config_dir(), user_state_dir(), user_log_dir())
    value = workspace.settings.by_scope.get(Scope.GLOBAL, {}).get(_SETTING)
    known = _MODES.get(value) if isinstance(value, str | bool | None) else None
    if known is not None:
        return SandboxTerms(known.mode, hidden), None
    where = workspace.settings.files.path(Scope.GLOBAL) or workspace.home
    problem = SettingsProblem(
        where, f"`{_SETTING}` must be auto, required or off, not {value!r}; it counts as required"
    )
    return SandboxTerms("required", hidden), problem
