"""Regular expressions that are compiled when they are first used.

`re.compile` takes from 0.1 to 2 ms; most expressions of the program are never used on the way to an
open session.
"""

import re
from typing import cast


class _LazyPattern:
    """Has the attributes of a compiled expression, from the first use of one of them on."""

    def __init__(self, expression: str, flags: int) -> None:
        self._made_from = (expression, flags)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        pattern = re.compile(*self._made_from)
        for each in dir(pattern):
            if not each.startswith("_"):
                self.__dict__[each] = getattr(pattern, each)
        return getattr(pattern, name)


def lazy_pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, compiled at its first use.

    Raises:
        re.error: At the first use, if the expression can't be read.
    """
    return cast("re.Pattern[str]", _LazyPattern(expression, flags))
