"""What a trick of a clone consists of, and words for writing one down in a line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from tests.trust.cloning import Machine

Used = Callable[[PreparedBundle, str], bool]

SETTINGS = ".amplifier/settings.yaml"
LOCAL = ".amplifier/settings.local.yaml"


@dataclass(frozen=True)
class Trick:
    """What the clone brings.

    Attributes:
        make: Writes it, and returns the bundle to open; empty for the configured one.
        group: The group of the item that is asked about; empty for what is always refused.
        shows: What that item shows.
        used: Whether it has its effect once the user says "use it".
    """

    make: Callable[[Machine], str | None]
    group: str = ""
    shows: str = ""
    used: Used | None = None


def config(kind: str, module: str, key: str) -> Callable[[PreparedBundle], Any]:
    def found(prepared: PreparedBundle) -> Any:
        for entry in prepared.mount_plan.get(kind, ()):
            if entry["module"] == module:
                return (entry.get("config") or {}).get(key)
        return None

    return found


def has(kind: str, module: str, key: str, value: Any) -> Used:
    return lambda prepared, prompt: config(kind, module, key)(prepared) == value


def has_module(prepared: PreparedBundle, module: str) -> bool:
    return any(entry["module"] == module for entry in prepared.mount_plan.get("hooks", ()))


def allows_all(prepared: PreparedBundle, prompt: str) -> bool:
    return "*" in (config("hooks", "hooks-approval", "allow")(prepared) or ())


def setting(text: str, shows: str, used: Used | None = None, group: str = "power") -> Trick:
    return Trick(lambda at: at.write(SETTINGS, text) and None, group, shows, used)


def bundle(
    head: str, shows: str, used: Used | None = None, group: str = "power", body: str = "Hello."
) -> Trick:
    return Trick(lambda at: at.bundle(at.told(head), at.told(body)), group, shows, used)


def both(*steps: Callable[[Machine], Any]) -> Callable[[Machine], str | None]:
    def make(at: Machine) -> str | None:
        results = [step(at) for step in steps]
        return next((each for each in results if isinstance(each, str) and each), None)

    return make


def says(words: str) -> Used:
    return lambda prepared, prompt: words in prompt


def includes_all(prepared: PreparedBundle, prompt: str) -> bool:
    return not prepared.bundle.skipped


def runs(module: str) -> Used:
    return lambda prepared, prompt: module in prepared.module_exports


def agent(key: str, value: Any) -> Used:
    def found(prepared: PreparedBundle, prompt: str) -> bool:
        agents = prepared.mount_plan.get("agents") or {}
        return any(definition.get(key) == value for definition in agents.values())

    return found


def link(name: str, target: str) -> Callable[[Machine], None]:
    def make(at: Machine) -> None:
        path = at.clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(at.told(target))

    return make
