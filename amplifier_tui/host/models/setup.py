"""Variables that a provider needs: tried in this program, kept where they work."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.settings.keys import pasted_value, set_key, stored_key
from amplifier_tui.foundation.trust.keys.addresses import reads_variable
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.paths import amplifier_home


@dataclass(slots=True)
class Trial:
    """Variables that are being tried; they stay in the environment where that `works`."""

    variables: Mapping[str, str]
    before: Mapping[str, str | None]
    works: bool = False
    shadowed: tuple[str, ...] = ()
    """Those that count for this run only, once they are kept: the environment has others."""

    def keep(self) -> str:
        """Write them into `keys.env`, and return what was done.

        Raises:
            OSError: The file can't be written.
            ValueError: A name is no variable's, or a value is no line.
        """
        home = amplifier_home()
        # What was there and is not of the file is there again when the program starts.
        won = [name for name, was in self.before.items() if was and was != stored_key(home, name)]
        won = [name for name in won if self.before[name] != self.variables[name]]
        for name, value in self.variables.items():
            set_key(home, name, value)
        names = " and ".join(self.variables)
        kept = f"{names} kept in {home / 'keys.env'}, readable by you alone"
        self.shadowed = tuple(won)
        if not won:
            return kept
        theirs = " and ".join(won)
        return f"From the next start on {theirs} of the environment wins: unset it there. {kept}"


@contextmanager
def trial(variables: Mapping[str, str]) -> Iterator[Trial]:
    """Put variables into the environment; what was there comes back unless they work.

    Raises:
        ValueError: A name or a value can't be a variable's.
    """
    variables = {name: pasted_value(name, text) for name, text in variables.items()}
    before = {name: os.environ.get(name) for name in variables}
    attempt = Trial(variables, before)
    try:
        os.environ.update(variables)
        yield attempt
    finally:
        if not attempt.works:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


async def check_readers(live: LiveSession, names: Collection[str]) -> str:
    """Send one small request to every provider of a session that reads one of some variables.

    Returns:
        Why one was not answered; empty where all were.
    """
    # Of the bundle: in the mount plan, variables are replaced already.
    written = live.modules.sources.prepared.bundle.providers
    readers = [entry for entry in written if reads_variable(entry, names)]
    if not readers:
        return f"no provider of the bundle {live.bundle} reads {' or '.join(names)}"
    mounted = {
        (each.module_id, each.instance_id): each.provides
        for each in live.session.coordinator.mounted_modules
        if each.kind == "provider"
    }
    for entry in readers:
        provides = mounted.get((str(entry["module"]), str(entry.get("instance_id") or "")))
        if not provides:
            return f"{module_key(entry)} is not ready"
        for name in provides:
            if problem := await live.models.check(name):
                return problem
    return ""
