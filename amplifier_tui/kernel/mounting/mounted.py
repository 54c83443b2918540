"""What each module of a session brought along, so that it can be taken out again alone."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass

Kind = Literal["orchestrator", "context", "provider", "tool", "hook"]


@dataclass(eq=False, slots=True)
class MountedModule:
    """One module of a session, and what it mounted and registered.

    Attributes:
        spec: ``{module, source, config}`` of the mount plan.
        package: The Python package its code is in; empty when it can't be told.
        points: What it mounted, by mount point and name; the name is empty where one can be.
        handlers: Its registrations at the hook registry, by event.
        capabilities: What it offers, by name.
        listed: What it added to lists of the session, each with its list: contributors, observers,
            callbacks of a stop, context providers.
        cleanups: What runs when it goes.
    """

    kind: Kind
    spec: dict[str, Any]
    package: str = ""
    points: dict[tuple[str, str], Any] = field(default_factory=dict)
    handlers: list[tuple[str, Any]] = field(default_factory=list)
    capabilities: dict[str, Any] = field(default_factory=dict)
    listed: list[tuple[list[Any], Any]] = field(default_factory=list)
    cleanups: list[Callable[..., Any]] = field(default_factory=list)

    @property
    def module_id(self) -> str:
        """Its id."""
        return str(self.spec["module"])

    @property
    def instance_id(self) -> str:
        """Which of several instances of one module it is; empty for the only one."""
        return str(self.spec.get("instance_id") or "")

    @property
    def key(self) -> str:
        """What identifies it in its session: its id, with the instance if it has one."""
        return f"{self.module_id}#{self.instance_id}" if self.instance_id else self.module_id

    @property
    def provides(self) -> tuple[str, ...]:
        """Names it is mounted under, such as those of its tools."""
        return tuple(name for _, name in self.points if name)
