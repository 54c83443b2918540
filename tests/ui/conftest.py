"""Apps share what they parse: each pilot test would spend its first 20 ms on the same styles."""

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

Parsed = dict[tuple[object, ...], list[RuleSet]]

_known: dict[tuple[tuple[str, str], ...], Parsed] = {}
_make, _set_variables = Stylesheet.__init__, Stylesheet.set_variables


def _share(sheet: Stylesheet) -> None:
    """Have a style sheet keep the rules it parses where those of the same colours do."""
    sheet._parse_cache = _known.setdefault(tuple(sheet._variables.items()), {})


def _made(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
    _make(sheet, variables=variables)
    _share(sheet)


def _variables_set(sheet: Stylesheet, variables: dict[str, str]) -> None:
    sheet._parse_cache = {}  # It is cleared.
    _set_variables(sheet, variables)
    _share(sheet)


Stylesheet.__init__, Stylesheet.set_variables = _made, _variables_set
