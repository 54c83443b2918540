"""`settings.yaml` and `keys.env`, shared with the Amplifier CLI."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "apply": "apply_settings",
        "expand": "expand_plan expand_variables missing_variables",
        "keys": "KeysReport load_keys remove_key set_key",
        "settings": "Scope Settings SettingsFiles SettingsProblem load_settings",
        "writing": "write_provider write_setting",
    },
)
