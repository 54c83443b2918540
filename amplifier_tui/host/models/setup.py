"""Variables that a provider needs: tried in this program, kept where they work."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from amplifier_tui.foundation.settings.keys import set_key
from amplifier_tui.paths import amplifier_home


@dataclass(slots=True)
class Trial:
    """Variables that are being tried; they stay in the environment where that `works`."""

    variables: Mapping[str, str]
    works: bool = False

    def keep(self) -> str:
        """Write them into `keys.env`, and return what was done.

        Raises:
            OSError: The file can't be written.
            ValueError: A name is no variable's, or a value is no line.
        """
        home = amplifier_home()
        for name, value in self.variables.items():
            set_key(home, name, value)
        names = " and ".join(self.variables)
        return f"It answers. {names} kept in {home / 'keys.env'}, readable by you alone"


@contextmanager
def trial(variables: Mapping[str, str]) -> Iterator[Trial]:
    """Put variables into the environment; what was there comes back unless they work."""
    before = {name: os.environ.get(name) for name in variables}
    attempt = Trial(variables)
    os.environ.update(variables)
    try:
        yield attempt
    finally:
        if not attempt.works:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
