"""Choosing a module of the session, and one of its settings."""

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import ModuleSetting
from amplifier_tui.ui.dialogs.parts.picker import Picker, marked_match
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.instruments.modules import ModuleStatus
from amplifier_tui.ui.widgets.pick_list import PickRow


class ModulePicker(Picker):
    """Returns the key of the chosen module; `choose` is what is done with it."""

    TITLE = "Modules"
    EMPTY = ("No module is mounted.", "No module matches.")

    def __init__(self, modules: Sequence[ModuleStatus], choose: str) -> None:
        super().__init__()
        self._modules = modules
        self._what = choose

    def _choices(self) -> Sequence[KeyChoice]:
        _, close = super()._choices()
        return (KeyChoice("enter", self._what, "choose"), close)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self._modules, lambda module: one_line(module.key))
        return [self._row(module, query) for module in found]

    def _row(self, module: ModuleStatus, query: str) -> PickRow:
        words = module.kind if module.state == "ready" else f"{module.state} · {module.kind}"
        name = marked_match(one_line(module.key), query)
        return PickRow(module.key, name, Content.styled(words, "$text-muted"))


class SettingPicker(Picker):
    """Returns the name of the chosen setting."""

    TITLE = "Settings"
    CHOOSE = "Change"
    EMPTY = ("Nothing can be changed.", "No setting matches.")
    ROWS: ClassVar[tuple[int, int]] = (4, 16)

    def __init__(self, settings: Sequence[ModuleSetting]) -> None:
        super().__init__()
        self._settings = settings

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self._settings, lambda setting: setting.name)
        return [self._row(setting, query) for setting in found]

    def _row(self, setting: ModuleSetting, query: str) -> PickRow:
        value = ("  " + one_line(setting.value, 60), "$text-muted")
        name = Content.assemble(marked_match(one_line(setting.name), query), value)
        return PickRow(setting.name, name, Content.styled(one_line(setting.about), "$text-muted"))
