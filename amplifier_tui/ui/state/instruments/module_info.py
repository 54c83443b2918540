"""One module of the session, as the modules pane knows it."""

from dataclasses import dataclass
from typing import Literal

from amplifier_tui.host.events import ModuleKind

ModuleState = Literal["loading", "ready", "failed"]


@dataclass(slots=True)
class ModuleStatus:
    """One module of the session.

    Attributes:
        since: Unix time of the beginning of its loading.
        mount_ms: Time its loading took.
        calls: Tool calls, model responses or handled hook events so far.
        last_ms: Duration of the latest of them; 0 before the first.
        model: The model a provider talks to.
        trouble: The latest error one of its hook handlers raised.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    state: ModuleState = "loading"
    since: float = 0.0
    mount_ms: float = 0.0
    provides: tuple[str, ...] = ()
    origin: str = ""
    source: str = ""
    version: str = ""
    detail: str = ""
    events: tuple[str, ...] = ()
    error: str = ""
    remedy: str = ""
    missing: tuple[str, ...] = ()
    fatal: bool = False
    calls: int = 0
    last_ms: float = 0.0
    model: str = ""
    trouble: str = ""

    @property
    def key(self) -> str:
        """Identifies the module in the session."""
        return module_key(self.module_id, self.instance)


def module_key(module_id: str, instance: str = "") -> str:
    """Return the key of a module: its id, with the instance when there are several."""
    return f"{module_id}#{instance}" if instance else module_id


def mount_facts(info: ModuleStatus) -> tuple[object, ...]:
    """Return everything that mounting decides, for comparison; not what work adds."""
    return (
        info.state,
        info.mount_ms,
        info.provides,
        info.origin,
        info.source,
        info.version,
        info.detail,
        info.events,
        info.error,
        info.remedy,
        info.missing,
        info.fatal,
    )
