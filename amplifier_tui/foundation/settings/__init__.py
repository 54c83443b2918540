"""`settings.yaml` and `keys.env`, shared with the Amplifier CLI (foundation reference g)."""

from amplifier_tui.foundation.settings.apply import apply_settings
from amplifier_tui.foundation.settings.expand import (
    expand_plan,
    expand_variables,
    missing_variables,
)
from amplifier_tui.foundation.settings.keys import KeysReport, load_keys, remove_key, set_key
from amplifier_tui.foundation.settings.scopes import Scope, SettingsFiles
from amplifier_tui.foundation.settings.settings import Settings, SettingsProblem, load_settings
from amplifier_tui.foundation.settings.writing import write_provider, write_setting

__all__ = [
    "KeysReport",
    "Scope",
    "Settings",
    "SettingsFiles",
    "SettingsProblem",
    "apply_settings",
    "expand_plan",
    "expand_variables",
    "load_keys",
    "load_settings",
    "missing_variables",
    "remove_key",
    "set_key",
    "write_provider",
    "write_setting",
]
